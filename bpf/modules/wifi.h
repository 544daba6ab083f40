/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that the consumers of the Wi-Fi modules share: options, and how times, addresses, names and
 * the beginning of a line are printed. Text is for people, --json prints one object per line.
 */
#ifndef WIFI_H
#define WIFI_H

#include <ctype.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <saluki/consumer.h>

#define WIFI_USAGE 2

struct wifi_options {
	bool json;
	unsigned int every_s;
};

/* `every`: help text of the option --every; NULL: the consumer has no such option. */
static inline void wifi_usage(FILE *out, const char *name, const char *what, const char *every)
{
	fprintf(out,
		"Usage: saluki module consume -i IF %s -- %s [OPTION]...\n"
		"       %s [OPTION]... <EVENTS.jsonl\n\n%s\n\n"
		"      --json                   one JSON object a line\n",
		name, name, name, what);
	if (every)
		fprintf(out, "      --every SECONDS          %s\n", every);
	fprintf(out, "  -h, --help                   print this\n");
}

static inline bool wifi_every(struct wifi_options *o, const char *name, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n < 1 || n > 86400) {
		fprintf(stderr, "%s: --every %s: must be seconds, 1 to 86400\n", name, text);
		return false;
	}
	o->every_s = n;
	return true;
}

/* Returns -1 to continue, or the exit status. */
static inline int wifi_options(struct wifi_options *o, int argc, char **argv, const char *name,
			       const char *what, const char *every)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' },
						 { "every", required_argument, NULL, 'e' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	int got;

	while ((got = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (got == 'j') {
			o->json = true;
		} else if (got == 'h') {
			wifi_usage(stdout, name, what, every);
			return 0;
		} else if (got != 'e' || !every || !wifi_every(o, name, optarg)) {
			fprintf(stderr, "%s: see '%s --help'\n", name, name);
			return WIFI_USAGE;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "%s: %s: takes no arguments; see '%s --help'\n", name, argv[optind], name);
	return WIFI_USAGE;
}

/* ---- the end --------------------------------------------------------------------------------- */

static volatile sig_atomic_t wifi_stop;

static inline void wifi_on_signal(int signo)
{
	(void)signo;
	wifi_stop = 1;
}

/* SIGINT and SIGTERM end the consumer after its last report. */
static inline void wifi_signals(void)
{
	const struct sigaction act = { .sa_handler = wifi_on_signal };

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

/* ---- parts of lines -------------------------------------------------------------------------- */

struct wifi_text {
	char text[200]; /* a name; each byte may take \u00xx */
};

static inline struct wifi_text wifi_mac(const __u8 *a)
{
	struct wifi_text t;

	snprintf(t.text, sizeof(t.text), "%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3],
		 a[4], a[5]);
	return t;
}

/* Bytes outside ASCII and special characters are written as \u00xx. A network's name can have any
 * bytes, and comes from strangers. */
static inline struct wifi_text wifi_name(const void *bytes, size_t len)
{
	const __u8 *from = (const __u8 *)bytes;
	struct wifi_text t;
	size_t at = 0;

	for (size_t i = 0; i < len && at + 7 < sizeof(t.text); i++) {
		if (from[i] >= 0x20 && from[i] < 0x7f && from[i] != '"' && from[i] != '\\')
			t.text[at++] = from[i];
		else
			at += snprintf(t.text + at, sizeof(t.text) - at, "\\u%04x", from[i]);
	}
	t.text[at] = 0;
	return t;
}

static inline struct wifi_text wifi_time(__u64 time_ns)
{
	time_t s = time_ns / 1000000000;
	struct wifi_text t;
	struct tm tm;
	size_t at;

	gmtime_r(&s, &tm);
	at = strftime(t.text, sizeof(t.text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(t.text + at, sizeof(t.text) - at, ".%03uZ",
		 (unsigned int)(time_ns / 1000000 % 1000));
	return t;
}

/* When and where: `2026-11-23T06:00:00.000Z hall:mon0: `, the same in JSON, an open object. */
static inline void wifi_head(const struct wifi_options *o, const struct consumer_event *e)
{
	struct wifi_text sensor = wifi_name(e->sensor, strlen(e->sensor));
	struct wifi_text interface = wifi_name(e->interface, strlen(e->interface));

	if (o->json)
		printf("{\"time_ns\": %llu, \"sensor\": \"%s\", \"interface\": \"%s\", ",
		       (unsigned long long)e->time_ns, sensor.text, interface.text);
	else
		printf("%s %s%s%s%s", wifi_time(e->time_ns).text, sensor.text,
		       *sensor.text ? ":" : "", interface.text, *sensor.text ? ": " : "");
}

#endif
