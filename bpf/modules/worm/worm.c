// SPDX-License-Identifier: GPL-2.0
/*
 * Reports outbreaks from the events of worm.bpf.c: content, number of copies, sources and
 * destinations, start, and a signature. In: events of one sensor, or of all. Out: a line when an
 * outbreak begins and whenever it doubles, and a line per hit of a signature.
 *
 * The same content on several sensors is one outbreak. Several sensors may see the same packets, so
 * the report has the counts of the sensor that saw most.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <saluki/consumer.h>

#include "worm.h"
#include "worm_fill.h"

#define OUTBREAKS_MAX 1024

struct outbreak {
	uint64_t content, first_ns, last_ns;
	uint64_t count, sources, destinations; /* of the sensor that saw most */
	struct worm_event last;
	uint8_t len, bytes[48];
};

static struct program {
	bool json;
	struct outbreak outbreaks[OUTBREAKS_MAX];
	uint32_t outbreak_count;
	uint64_t forgotten, hits, bad;
	struct worm_signatures signatures;
	struct fill_names names;
} program;

static const char usage[] =
	"Usage: worm [OPTION]... <FILE.jsonl\n\n"
	"Reports content that many send to many, and hits of signatures, as the module worm says\n"
	"them on one sensor or on all.\n\n"
	"  --json                  a line of JSON each\n"
	"  --signatures FILE       where the names of signatures are\n"
	"  --fill-signatures FILE  prints nothing but what 'saluki module fill -i IF worm\n"
	"                          signatures' reads: up to 8 lines of a name, tcp, udp or any\n"
	"                          with /PORT, @N (at an offset) or <N (in the first N bytes),\n"
	"                          and a pattern: digits, '..' for any byte, or \"text\"\n"
	"  --fill-settings LIST    the same for 'saluki module fill -i IF worm settings':\n"
	"                          prevalence=N,sources=N,destinations=N,window=S,ignore=PORT\n"
	"  --help                  print this\n";

/* ---- outbreaks ------------------------------------------------------------------------------- */

/* Linear counting, at the finest level that is not almost full. */
static uint64_t estimate(const uint8_t bits[WORM_LEVELS])
{
	double n = 0;

	for (int level = 0; level < WORM_LEVELS; level++) {
		double set = bits[level] < 64 ? bits[level] : 63.5;

		n = -64 * log(1 - set / 64) * (1 << level * WORM_LEVEL_SHIFT);
		if (bits[level] <= 56)
			break;
	}
	return n + 0.5;
}

/* Returns the content's outbreak, or a new one that replaces the least recently reported. */
static struct outbreak *outbreak_of(uint64_t content, bool *new)
{
	struct outbreak *o, *oldest = program.outbreaks;

	for (o = program.outbreaks; o < program.outbreaks + program.outbreak_count; o++) {
		if (o->content == content)
			return o;
		if (o->last_ns < oldest->last_ns)
			oldest = o;
	}
	*new = true;
	if (program.outbreak_count < OUTBREAKS_MAX) {
		program.outbreak_count++;
	} else {
		program.forgotten++;
		o = oldest;
	}
	*o = (struct outbreak){ .content = content };
	return o;
}

static const char *address(const struct worm_event *e, const uint8_t *bytes,
			   char out[INET6_ADDRSTRLEN])
{
	return inet_ntop(e->ip_version == 6 ? AF_INET6 : AF_INET, bytes, out, INET6_ADDRSTRLEN);
}

static const char *protocol(const struct worm_event *e)
{
	return e->ip_protocol == 6 ? "tcp" : e->ip_protocol == 17 ? "udp" : "any";
}

/* A sensor's operator chooses its name, which may contain control characters. */
static void print_name(const char *s, bool quoted)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			putchar('?');
		else if (quoted && (*s == '"' || *s == '\\'))
			printf("\\%c", *s);
		else
			putchar(*s);
}

static void print_where(const struct consumer_event *at, const struct worm_event *e)
{
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];

	address(e, e->saddr, from);
	address(e, e->daddr, to);
	if (program.json) {
		printf(",\"time_ns\":%" PRIu64 ",\"sensor\":\"", (uint64_t)at->time_ns);
		print_name(at->sensor, true);
		printf("\",\"interface\":\"");
		print_name(at->interface, true);
		printf("\",\"protocol\":%u,\"port\":%u,\"source\":\"%s\",\"destination\":\"%s\","
		       "\"payload_len\":%u}\n",
		       e->ip_protocol, e->port, from, to, e->payload_len);
		return;
	}
	printf(" from %s to %s, on ", from, to);
	print_name(*at->sensor ? at->sensor : "this sensor", false);
	putchar(' ');
	print_name(at->interface, false);
	putchar('\n');
}

static void print_outbreak(const struct outbreak *o, const struct consumer_event *at,
			   const struct worm_event *e, bool new)
{
	if (program.json)
		printf("{\"event\":\"%s\",\"content\":\"%016" PRIx64 "\",\"copies\":%" PRIu64
		       ",\"sources\":%" PRIu64 ",\"destinations\":%" PRIu64 ",\"since_ms\":%u",
		       new ? "outbreak" : "growth", o->content, o->count, o->sources,
		       o->destinations, e->since_ms);
	else
		printf("%.3f %s %016" PRIx64 " %s/%u: %" PRIu64 " copies from some %" PRIu64
		       " to some %" PRIu64 " hosts in %u ms; the last",
		       at->time_ns / 1e9, new ? "OUTBREAK" : "growth", o->content, protocol(e),
		       e->port, o->count, o->sources, o->destinations, e->since_ms);
	print_where(at, e);
}

static void most(uint64_t *value, uint64_t other)
{
	*value = *value > other ? *value : other;
}

static void take_outbreak(const struct consumer_event *at, const struct worm_event *e)
{
	bool new = false;
	struct outbreak *o = outbreak_of(e->content, &new);
	uint64_t before = o->count;

	if (new)
		o->first_ns = at->time_ns;
	most(&o->last_ns, at->time_ns);
	most(&o->count, e->count);
	most(&o->sources, estimate(e->source_bits));
	most(&o->destinations, estimate(e->destination_bits));
	o->last = *e;
	if (new || o->count > before)
		print_outbreak(o, at, e, new);
}

static void print_bytes(const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		printf("%02x", bytes[i]);
}

/* Prints a signature: the content's first bytes. */
static void take_bytes(const struct worm_event *e)
{
	bool new = false;
	struct outbreak *o = outbreak_of(e->content, &new);

	if (e->len > sizeof(o->bytes) || o->len) {
		program.bad += !o->len;
		return;
	}
	o->len = e->len;
	memcpy(o->bytes, e->bytes, e->len);
	if (program.json) {
		printf("{\"event\":\"content\",\"content\":\"%016" PRIx64 "\",\"bytes\":\"",
		       o->content);
		print_bytes(o->bytes, o->len);
		printf("\"}\n");
		return;
	}
	printf("a signature of %016" PRIx64 ":\n  worm-%04x %s/%u @0 ", o->content,
	       (unsigned int)(o->content & 0xffff), protocol(e), e->port);
	print_bytes(o->bytes, o->len < WORM_PATTERN ? o->len : WORM_PATTERN);
	putchar('\n');
}

static void take_hit(const struct consumer_event *at, const struct worm_event *e)
{
	const char *name = e->content < program.signatures.count ? program.names.names[e->content]
								 : "";

	program.hits++;
	if (program.json) {
		printf("{\"event\":\"hit\",\"signature\":%" PRIu64 ",\"name\":\"",
		       (uint64_t)e->content);
		print_name(name, true);
		printf("\",\"copies\":%u", e->count);
	} else {
		printf("%.3f HIT signature %" PRIu64 " ", at->time_ns / 1e9, (uint64_t)e->content);
		print_name(name, false);
		printf(" %s/%u: %u copies,", protocol(e), e->port, e->count);
	}
	print_where(at, e);
}

static void take(const struct consumer_event *at)
{
	struct worm_event e;

	if (at->len != sizeof(e)) {
		program.bad++;
		return;
	}
	memcpy(&e, at->data, sizeof(e));
	if (e.kind == WORM_OUTBREAK)
		take_outbreak(at, &e);
	else if (e.kind == WORM_BYTES)
		take_bytes(&e);
	else if (e.kind == WORM_HIT)
		take_hit(at, &e);
	else
		program.bad++;
}

static void report(uint64_t bad)
{
	if (program.json)
		printf("{\"event\":\"end\",\"outbreaks\":%" PRIu64 ",\"hits\":%" PRIu64
		       ",\"bad_events\":%" PRIu64 "}\n",
		       program.outbreak_count + program.forgotten, program.hits, bad);
	else
		printf("%" PRIu64 " outbreaks, %" PRIu64 " hits of signatures, %" PRIu64
		       " bad events\n",
		       program.outbreak_count + program.forgotten, program.hits, bad);
}

/* ---- options --------------------------------------------------------------------------------- */

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "signatures", required_argument, NULL, 's' },
	{ "fill-signatures", required_argument, NULL, 'f' },
	{ "fill-settings", required_argument, NULL, 'F' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Returns 0, 1 if there is nothing more to do, or -errno. */
static int option(int c)
{
	struct worm_settings settings = { 0 };
	int err = 0;

	switch (c) {
	case 'j':
		program.json = true;
		return 0;
	case 's':
		return fill_read(&program.signatures, &program.names, optarg);
	case 'f':
		err = fill_read(&program.signatures, &program.names, optarg);
		if (!err)
			fill_print(&program.signatures, sizeof(program.signatures));
		return err ? err : 1;
	case 'F':
		err = fill_settings(&settings, optarg);
		if (!err)
			fill_print(&settings, sizeof(settings));
		return err ? err : 1;
	case 'h':
		fputs(usage, stdout);
		return 1;
	default:
		return -EINVAL;
	}
}

static int read_options(int argc, char **argv)
{
	int c, err = 0;

	while (!err && (c = getopt_long(argc, argv, "h", options, NULL)) != -1)
		err = option(c);
	if (!err && optind < argc) {
		fprintf(stderr, "worm: %s: it reads standard input; try --help\n", argv[optind]);
		err = -EINVAL;
	}
	return err;
}

static int finish(int err)
{
	if (!fflush(stdout) && !ferror(stdout))
		return err;
	fprintf(stderr, "worm: cannot write: %s\n", strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	static struct consumer c;
	struct consumer_event e;
	int err = read_options(argc, argv);

	if (err)
		return finish(err > 0 ? 0 : 2);
	err = consumer_open(&c, "worm");
	while (!err || err == 1) {
		err = consumer_next(&c, &e, -1);
		if (err == 1) {
			take(&e);
			if (fflush(stdout)) /* a reader may act on it at once */
				break;
		}
	}
	if (err == -ENODATA)
		report(program.bad + c.bad_lines);
	consumer_close(&c);
	return finish(err == -ENODATA ? 0 : 1);
}
