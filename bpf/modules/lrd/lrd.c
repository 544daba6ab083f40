// SPDX-License-Identifier: GPL-2.0
/*
 * Estimates the Hurst parameter of each sensor's traffic from the events of lrd.bpf.c. In: events
 * of one interface or of all sensors. Out: one line of text or JSON per series. At the end, it
 * covers all traffic since the module was loaded; with --every, each line covers the last seconds
 * only.
 *
 *     lrd [--json] [--every SECONDS] [--first OCTAVE] [--octaves]
 */
#include <getopt.h>
#include <signal.h>

#include <saluki/consumer.h>

#include "lrd_estimate.h"

#define SOURCES_MAX 256 /* interfaces of all sensors */
#define NAME_LEN 64

static const char *const what_names[LRD_WHATS] = { "bytes", "packets" };

/* One direction of an interface. */
struct source {
	char sensor[NAME_LEN], interface[NAME_LEN];
	__u8 direction;
	__u64 interval_ns, intervals, begin_ns;
	struct lrd_energy energies[LRD_WHATS][LRD_OCTAVES];
	struct lrd_energy reported[LRD_WHATS][LRD_OCTAVES]; /* at the last report */
};

static struct {
	bool json, octaves, all;
	unsigned int every_s, first;
	struct source sources[SOURCES_MAX];
	unsigned int source_count;
	__u64 refused; /* events: malformed, or beyond SOURCES_MAX */
} report;

static volatile sig_atomic_t stop;

static void on_signal(int signo)
{
	(void)signo;
	stop = 1;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool is_of(const struct source *s, const struct consumer_event *e, __u8 direction)
{
	return s->direction == direction && !strncmp(s->sensor, e->sensor, NAME_LEN - 1) &&
	       !strncmp(s->interface, e->interface, NAME_LEN - 1);
}

static struct source *source_of(const struct consumer_event *e, __u8 direction)
{
	struct source *s;

	for (s = report.sources; s < report.sources + report.source_count; s++)
		if (is_of(s, e, direction))
			return s;
	if (report.source_count == SOURCES_MAX)
		return NULL;
	report.source_count++;
	snprintf(s->sensor, NAME_LEN, "%s", e->sensor);
	snprintf(s->interface, NAME_LEN, "%s", e->interface);
	s->direction = direction;
	return s;
}

static bool is_right(const struct consumer_event *e)
{
	const struct lrd_event *l = e->data;

	return e->len == sizeof(*l) && l->direction >= 1 && l->direction <= LRD_DIRECTIONS &&
	       l->what < LRD_WHATS && l->octave >= 1 && l->octave <= LRD_OCTAVES &&
	       l->energy.shift < 64 && l->interval_ns;
}

static void take(const struct consumer_event *e)
{
	const struct lrd_event *l = e->data;
	struct source *s = is_right(e) ? source_of(e, l->direction) : NULL;

	if (!s) {
		report.refused++;
		return;
	}
	if (s->begin_ns != l->begin_ns) { /* the module was loaded again */
		memset(s->energies, 0, sizeof(s->energies));
		memset(s->reported, 0, sizeof(s->reported));
		s->begin_ns = l->begin_ns;
		s->interval_ns = l->interval_ns;
	}
	s->intervals = l->intervals;
	s->energies[l->what][l->octave - 1] = l->energy;
}

/* ---- reports --------------------------------------------------------------------------------- */

static double seconds(const struct source *s, unsigned int octave)
{
	return ldexp(s->interval_ns / 1e9, octave);
}

static const char *verdict(const struct lrd_estimate *e)
{
	return e->fit < LRD_REFUTED ? "no straight line fits"
	       : e->low > .5	    ? "long-range dependence"
				    : "no long-range dependence";
}

static void print_octaves_text(const struct source *s, const struct lrd_energy *energies)
{
	for (unsigned int j = 1; report.octaves && j <= LRD_OCTAVES; j++)
		if (lrd_usable(&energies[j - 1]))
			printf("  octave %2u %12.4g s %12llu details, log2 of their variance "
			       "%8.3f\n",
			       j, seconds(s, j), energies[j - 1].count,
			       lrd_log_variance(&energies[j - 1], j));
}

static void print_text(const struct source *s, enum lrd_what what,
		       const struct lrd_energy *energies, const struct lrd_estimate *e)
{
	printf("%s%s%s%s%s %s: ", s->sensor, *s->sensor ? " " : "", s->interface,
	       *s->interface ? " " : "", s->direction == 2 ? "out" : "in", what_names[what]);
	if (!report.all)
		printf("last %u s: ", report.every_s);
	if (e)
		printf("H %.3f (95 %%: %.3f to %.3f), octaves %u to %u (%.3g s to %.3g s), fit "
		       "%.2f: %s\n",
		       e->hurst, e->low, e->high, e->first, e->last, seconds(s, e->first),
		       seconds(s, e->last), e->fit, verdict(e));
	else
		printf("too little yet, %llu intervals of %.3g s\n", s->intervals, seconds(s, 0));
	print_octaves_text(s, energies);
}

static void print_octaves_json(const struct lrd_energy *energies)
{
	const char *before = "";

	printf(", \"octaves\": [");
	for (unsigned int j = 1; j <= LRD_OCTAVES; j++) {
		if (!lrd_usable(&energies[j - 1]))
			continue;
		printf("%s{\"octave\": %u, \"count\": %llu, \"log2_variance\": %.6f}", before, j,
		       energies[j - 1].count, lrd_log_variance(&energies[j - 1], j));
		before = ", ";
	}
	printf("]");
}

static void print_json(const struct source *s, enum lrd_what what,
		       const struct lrd_energy *energies, const struct lrd_estimate *e)
{
	printf("{\"sensor\": \"%s\", \"interface\": \"%s\", \"direction\": \"%s\", \"series\": "
	       "\"%s\", "
	       "\"interval_ns\": %llu, \"intervals\": %llu",
	       s->sensor, s->interface, s->direction == 2 ? "out" : "in", what_names[what],
	       s->interval_ns, s->intervals);
	if (!report.all)
		printf(", \"last_s\": %u", report.every_s);
	if (e)
		printf(", \"hurst\": %.6f, \"low\": %.6f, \"high\": %.6f, \"first_octave\": %u, "
		       "\"last_octave\": %u, \"fit\": %.6f, \"verdict\": \"%s\"",
		       e->hurst, e->low, e->high, e->first, e->last, e->fit, verdict(e));
	if (report.octaves)
		print_octaves_json(energies);
	printf("}\n");
}

/* Returns `now` minus `before`, in units of 4^shift. The shift only grows. */
static struct lrd_energy since(const struct lrd_energy *now, const struct lrd_energy *before)
{
	unsigned int more = now->shift > before->shift ? now->shift - before->shift : 0;
	__u64 sum = more < 32 ? before->sum >> 2 * more : 0;

	return (struct lrd_energy){ .count = now->count - before->count,
				    .sum = now->sum > sum ? now->sum - sum : 0,
				    .shift = now->shift };
}

static void print_series(const struct source *s, enum lrd_what what, bool all)
{
	struct lrd_energy energies[LRD_OCTAVES];
	struct lrd_estimate e;
	bool known;

	for (unsigned int i = 0; i < LRD_OCTAVES; i++)
		energies[i] = all ? s->energies[what][i]
				  : since(&s->energies[what][i], &s->reported[what][i]);
	known = lrd_estimate(&e, energies, report.first);
	(report.json ? print_json : print_text)(s, what, energies, known ? &e : NULL);
}

/* `all`: since the module was loaded, else since the last report. */
static void print_all(bool all)
{
	report.all = all;
	for (unsigned int i = 0; i < report.source_count; i++) {
		struct source *s = &report.sources[i];

		for (enum lrd_what what = 0; what < LRD_WHATS; what++)
			print_series(s, what, all);
		memcpy(s->reported, s->energies, sizeof(s->reported));
	}
	fflush(stdout);
}

/* ---------------------------------------------------------------------------------------------- */

static void usage(FILE *out)
{
	fprintf(out, "Usage: lrd [OPTION]...\n\n"
		     "Reports the Hurst parameter of traffic, from events of the module lrd.\n\n"
		     "  -e, --every SECONDS  report each so many seconds, of these alone\n"
		     "  -f, --first OCTAVE   fit from this octave on; the default is looked for\n"
		     "  -j, --json           lines of JSON\n"
		     "  -o, --octaves        what is known of each octave, too\n");
}

static bool read_number(const char *text, unsigned int most, unsigned int *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*out = n;
	if (*text >= '0' && *text <= '9' && !*end && n >= 1 && n <= most)
		return true;
	fprintf(stderr, "lrd: %s: give a number from 1 to %u\n", text, most);
	return false;
}

/* Returns -1 to continue, or the exit status. */
static int read_options(int argc, char **argv)
{
	static const struct option defs[] = {
		{ "every", 1, NULL, 'e' },   { "first", 1, NULL, 'f' }, { "json", 0, NULL, 'j' },
		{ "octaves", 0, NULL, 'o' }, { "help", 0, NULL, 'h' },	{ 0 }
	};

	for (int c; (c = getopt_long(argc, argv, "e:f:hjo", defs, NULL)) != -1;) {
		if (c == 'h' || c == '?') {
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
		report.json |= c == 'j';
		report.octaves |= c == 'o';
		if ((c == 'e' && !read_number(optarg, 86400, &report.every_s)) ||
		    (c == 'f' && !read_number(optarg, LRD_OCTAVES, &report.first)))
			return 2;
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "lrd: %s: takes no arguments but options; see --help\n", argv[optind]);
	return 2;
}

/* Reads all waiting events before a report, even if the report is then late. */
static int follow(struct consumer *c)
{
	__u64 every_ns = report.every_s * 1000000000ULL, due = ~0ULL;
	struct consumer_event e;
	int err = 0;

	if (every_ns)
		due = consumer_clock(CLOCK_MONOTONIC) + every_ns;
	while (err >= 0 && !stop) {
		__u64 now = consumer_clock(CLOCK_MONOTONIC);
		__u64 left_ms = due > now ? (due - now) / 1000000 + 1 : 0;

		err = consumer_next(c, &e, every_ns ? (int)left_ms : -1);
		if (err == 1) {
			take(&e);
		} else if (!err && consumer_clock(CLOCK_MONOTONIC) >= due) {
			print_all(false);
			due += every_ns;
		}
	}
	print_all(true);
	return err == -ENODATA || stop ? 0 : err;
}

int main(int argc, char **argv)
{
	struct sigaction stops = { .sa_handler = on_signal };
	int status = read_options(argc, argv), err;
	static struct consumer c;

	if (status >= 0)
		return status;
	sigaction(SIGINT, &stops, NULL);
	sigaction(SIGTERM, &stops, NULL);
	err = consumer_open(&c, "lrd");
	err = err ? err : follow(&c);
	if (report.refused)
		fprintf(stderr,
			"lrd: %llu events were passed over: of another version, or of more "
			"than %d interfaces\n",
			report.refused, SOURCES_MAX);
	consumer_close(&c);
	return err || ferror(stdout) ? 1 : 0;
}
