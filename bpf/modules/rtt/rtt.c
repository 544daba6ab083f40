// SPDX-License-Identifier: GPL-2.0
/*
 * Prints one line per connection from the events of rtt.bpf.c, and at the end histograms of
 * round-trip times, one per sensor side by side (figure 4 of "Open Packet Monitoring on FLAME").
 * In: events of one interface or of all sensors; on a sensor also the map `histogram`, which
 * includes connections beyond the policy's limit of events. Out: text, or lines of JSON.
 *
 *     rtt [--json] [--quiet]
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <getopt.h>
#include <signal.h>

#include <saluki/consumer.h>

#include "rtt.h"

#define SENSORS_MAX 64 /* further sensors are counted as one */
#define SENSOR_NAME 64 /* bytes */
#define BAR_WIDTH 50   /* characters */
#define WIDE_OCTAVE 4  /* most buckets per printed line */

static const char *const kind_names[RTT_KINDS] = { "whole", "server", "client" };

struct sensor {
	char name[SENSOR_NAME];
	__u64 connections, refused;
	__u64 counts[RTT_HISTOGRAM];
};

static struct {
	bool json, quiet;
	struct sensor sensors[SENSORS_MAX];
	unsigned int sensor_count;
} report;

static volatile sig_atomic_t stop;

static void on_signal(int signo)
{
	(void)signo;
	stop = 1;
}

/* ---- sensors --------------------------------------------------------------------------------- */

static struct sensor *sensor_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < report.sensor_count; i++)
		if (!strcmp(report.sensors[i].name, name))
			return &report.sensors[i];
	if (i == SENSORS_MAX) {
		snprintf(report.sensors[i - 1].name, SENSOR_NAME, "(others)");
		return &report.sensors[i - 1];
	}
	report.sensor_count++;
	snprintf(report.sensors[i].name, SENSOR_NAME, "%s", name);
	return &report.sensors[i];
}

static void count(struct sensor *s, const struct rtt_event *r)
{
	s->connections++;
	s->refused += r->flags & RTT_REFUSED ? 1 : 0;
	if (r->server_ns)
		s->counts[RTT_SERVER * RTT_BUCKETS + rtt_bucket(r->server_ns)]++;
	if (r->client_ns)
		s->counts[RTT_CLIENT * RTT_BUCKETS + rtt_bucket(r->client_ns)]++;
	if (r->server_ns && r->client_ns)
		s->counts[RTT_WHOLE * RTT_BUCKETS + rtt_bucket(r->server_ns + r->client_ns)]++;
}

/* ---- connections ----------------------------------------------------------------------------- */

static const char *what_became(__u8 flags)
{
	return flags & RTT_REFUSED ? "refused" : flags & RTT_RESET ? "reset" : "opened";
}

/* Why a half is missing. */
static void print_why(__u8 flags, const char *before, const char *quote)
{
	static const char *const words[] = { "syn-again", "syn-ack-again", NULL,
					     NULL,	  "late-ack",	   "both-open" };

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!words[i] || !(flags & 1 << i))
			continue;
		printf("%s%s%s%s", before, quote, words[i], quote);
		before = *quote ? ", " : " ";
	}
}

static void print_ms(const char *name, __u64 ns)
{
	if (ns)
		printf(" %s %.3f ms", name, ns / 1e6);
	else
		printf(" %s -", name);
}

static void print_text(const struct consumer_event *e, const struct rtt_event *r,
		       const char *client, const char *server)
{
	if (*e->sensor)
		printf("%s ", e->sensor);
	printf(r->ip_version == 6 ? "[%s]:%u > [%s]:%u" : "%s:%u > %s:%u", client, r->client_port,
	       server, r->server_port);
	print_ms("whole", r->server_ns && r->client_ns ? r->server_ns + r->client_ns : 0);
	print_ms("server", r->server_ns);
	print_ms("client", r->client_ns);
	printf(" %s", what_became(r->flags));
	print_why(r->flags, " ", "");
	printf("\n");
}

/* Sensors' names have only letters, digits and a few signs, so JSON needs no escapes. */
static void print_json(const struct consumer_event *e, const struct rtt_event *r,
		       const char *client, const char *server)
{
	printf("{\"time_ns\": %llu, \"sensor\": \"%s\", \"interface\": \"%s\", \"client\": \"%s\", "
	       "\"client_port\": %u, \"server\": \"%s\", \"server_port\": %u, \"state\": \"%s\"",
	       e->time_ns, e->sensor, e->interface, client, r->client_port, server, r->server_port,
	       what_became(r->flags));
	if (r->server_ns && r->client_ns)
		printf(", \"whole_ns\": %llu", r->server_ns + r->client_ns);
	if (r->server_ns)
		printf(", \"server_ns\": %llu", r->server_ns);
	if (r->client_ns)
		printf(", \"client_ns\": %llu", r->client_ns);
	printf(", \"why\": [");
	print_why(r->flags, "", "\"");
	printf("]}\n");
}

static void take(const struct consumer_event *e)
{
	const int family = ((const struct rtt_event *)e->data)->ip_version == 6 ? AF_INET6
										: AF_INET;
	char client[INET6_ADDRSTRLEN], server[INET6_ADDRSTRLEN];
	const struct rtt_event *r = e->data;

	if (e->len != sizeof(*r)) {
		fprintf(stderr, "rtt: an event of %u bytes, not %zu: of another version\n", e->len,
			sizeof(*r));
		return;
	}
	count(sensor_of(e->sensor), r);
	if (report.quiet)
		return;
	inet_ntop(family, r->client, client, sizeof(client));
	inet_ntop(family, r->server, server, sizeof(server));
	(report.json ? print_json : print_text)(e, r, client, server);
}

/* ---- histograms ------------------------------------------------------------------------------ */

static __u64 total(const __u64 *counts)
{
	__u64 n = 0;

	for (__u32 b = 0; b < RTT_BUCKETS; b++)
		n += counts[b];
	return n;
}

/* Returns the quantile `q`, with linear interpolation inside a bucket. */
static double quantile_ns(const __u64 *counts, double q)
{
	double left = q * total(counts);
	__u32 b = 0;

	while (b < RTT_BUCKETS - 1 && left > counts[b])
		left -= counts[b++];
	if (b == RTT_BUCKETS - 1 || !counts[b])
		return rtt_bucket_ns(b);
	return rtt_bucket_ns(b) + left / counts[b] * (rtt_bucket_ns(b + 1) - rtt_bucket_ns(b));
}

static void print_histogram(const struct sensor *s, enum rtt_kind kind)
{
	const __u64 *counts = s->counts + kind * RTT_BUCKETS;
	__u32 first = 0, last = RTT_BUCKETS - 1, step;
	__u64 most = 1;

	while (first < last && !counts[first])
		first++;
	while (last > first && !counts[last])
		last--;
	step = last - first > 40 ? WIDE_OCTAVE : 1;
	for (int pass = 0; pass < 2; pass++) {
		for (__u32 b = first; b <= last; b += step) {
			__u64 n = 0;

			for (__u32 i = b; i < b + step && i < RTT_BUCKETS; i++)
				n += counts[i];
			most = n > most ? n : most;
			if (pass)
				printf("%12.3f ms %8llu %.*s\n", rtt_bucket_ns(b) / 1e6, n,
				       (int)(n * BAR_WIDTH / most),
				       "**************************************************");
		}
	}
}

static void print_kind(const struct sensor *s, enum rtt_kind kind)
{
	const __u64 *counts = s->counts + kind * RTT_BUCKETS;
	__u64 n = total(counts);

	printf("%s%s%s round trips: %llu", s->name, *s->name ? " " : "", kind_names[kind], n);
	if (n)
		printf(", 10 %% %.3f ms, median %.3f ms, 90 %% %.3f ms",
		       quantile_ns(counts, .1) / 1e6, quantile_ns(counts, .5) / 1e6,
		       quantile_ns(counts, .9) / 1e6);
	printf("\n");
	if (n)
		print_histogram(s, kind);
}

/* Leaves out empty buckets. */
static void print_kind_json(const struct sensor *s, enum rtt_kind kind)
{
	const __u64 *counts = s->counts + kind * RTT_BUCKETS;
	const char *before = "";

	printf(", \"%s\": {\"count\": %llu, \"median_ns\": %.0f, \"buckets\": [", kind_names[kind],
	       total(counts), quantile_ns(counts, .5));
	for (__u32 b = 0; b < RTT_BUCKETS; b++) {
		if (!counts[b])
			continue;
		printf("%s{\"from_ns\": %llu, \"count\": %llu}", before, rtt_bucket_ns(b),
		       counts[b]);
		before = ", ";
	}
	printf("]}");
}

static void print_sensor(const struct sensor *s)
{
	if (report.json)
		printf("{\"histogram\": true, \"sensor\": \"%s\", \"connections\": %llu, "
		       "\"refused\": %llu",
		       s->name, s->connections, s->refused);
	else
		printf("%s%s%llu connections, %llu refused\n", s->name, *s->name ? ": " : "",
		       s->connections, s->refused);
	for (enum rtt_kind kind = 0; kind < RTT_KINDS; kind++)
		(report.json ? print_kind_json : print_kind)(s, kind);
	if (report.json)
		printf("}\n");
}

/* On a sensor the map has all measurements since the module was loaded. */
static void read_map(int map)
{
	int cpus = libbpf_num_possible_cpus();
	__u64 *each = calloc(cpus > 0 ? cpus : 1, sizeof(*each));
	struct sensor *s = sensor_of("");

	for (__u32 i = 0; each && cpus > 0 && i < RTT_HISTOGRAM; i++) {
		if (bpf_map_lookup_elem(map, &i, each)) {
			fprintf(stderr,
				"rtt: cannot read its map, so the histogram is of the events "
				"alone: %s\n",
				strerror(errno));
			break;
		}
		s->counts[i] = 0;
		for (int cpu = 0; cpu < cpus; cpu++)
			s->counts[i] += each[cpu];
	}
	free(each);
}

/* ---------------------------------------------------------------------------------------------- */

static int read_options(int argc, char **argv)
{
	static const struct option defs[] = {
		{ "json", 0, NULL, 'j' }, { "quiet", 0, NULL, 'q' }, { "help", 0, NULL, 'h' }, { 0 }
	};

	for (int c; (c = getopt_long(argc, argv, "hjq", defs, NULL)) != -1;) {
		report.json |= c == 'j';
		report.quiet |= c == 'q';
		if (c != 'j' && c != 'q') {
			fprintf(c == 'h' ? stdout : stderr,
				"Usage: rtt [--json] [--quiet]\n\n"
				"Reports round-trip times of TCP connections, from events of the "
				"module rtt.\n\n"
				"  -j, --json    lines of JSON\n"
				"  -q, --quiet   no line a connection, only histograms\n");
			return c == 'h' ? 0 : 2;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "rtt: %s: takes no arguments but options; see --help\n", argv[optind]);
	return 2;
}

int main(int argc, char **argv)
{
	struct sigaction stops = { .sa_handler = on_signal };
	int status = read_options(argc, argv), err, map;
	static struct consumer c;
	struct consumer_event e;

	if (status >= 0)
		return status;
	sigaction(SIGINT, &stops, NULL);
	sigaction(SIGTERM, &stops, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	err = consumer_open(&c, "rtt");
	map = err ? err : consumer_map(&c, "histogram");
	while (!err && !stop) {
		err = consumer_next(&c, &e, -1);
		if (err == 1)
			take(&e);
		err = err > 0 ? 0 : err;
	}
	if (map >= 0 && (!err || err == -ENODATA))
		read_map(map);
	for (unsigned int i = 0; i < report.sensor_count; i++)
		print_sensor(&report.sensors[i]);
	consumer_close(&c);
	return (err && err != -ENODATA) || fflush(stdout) ? 1 : 0;
}
