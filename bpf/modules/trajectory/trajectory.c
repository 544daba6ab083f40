// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the events of trajectory.bpf.c of all sensors. Prints the paths that packets took through
 * the network and each link's one-way delay (FLAME's figure 3):
 *
 *     trajectory [OPTION]... <DIR/trajectory.jsonl
 *
 * In: events, almost in the order of their time stamps. Out: standard output. Addresses are as the
 * sensors' policies show them. Two sensors that hash addresses need the same key to match a flow.
 */
#include <getopt.h>
#include <saluki/consumer.h>

#include "trajectory_join.h"
#include "trajectory_links.h"
#include "trajectory_report.h"

#define WINDOW_DEFAULT 5
#define LABELS_DEFAULT 65536
#define LABELS_MAX (1 << 24)

static struct program {
	struct join join;
	struct links links;
	bool json, packets;
	uint64_t window_ns, bad;
	uint32_t labels;
} program;

static const char usage[] =
	"Usage: trajectory [OPTION]... <FILE.jsonl\n\n"
	"Joins what the module trajectory says on all sensors into the paths of packets and the\n"
	"one-way delays of links. Sensors' clocks must agree better than what is measured.\n\n"
	"  --json        a line of JSON in the place of a table\n"
	"  --packets     each packet, too, as a line of JSON\n"
	"  --series S    each link each S seconds, too\n"
	"  --window S    the longest way, and how late an event may be (default 5)\n"
	"  --labels N    packets under way at a time (default 65536, 300 bytes each)\n"
	"  --fill-rate R prints nothing but what 'saluki module fill -i IF trajectory settings'\n"
	"                reads to look at this part of all packets, more than 0 to 1\n"
	"  --help        print this\n";

static void series(struct links *l, const struct link *k)
{
	report_series(l, k, program.json);
}

static void done(void *of, struct joined *j)
{
	(void)of;
	if (program.packets)
		report_packet(&program.links, j);
	links_take(&program.links, j);
}

/* ---- options --------------------------------------------------------------------------------- */

static int number(double *out, const char *option, const char *text, double min, double max)
{
	char *end;

	*out = strtod(text, &end);
	if (end != text && !*end && *out >= min && *out <= max)
		return 0;
	fprintf(stderr, "trajectory: --%s %s: give a number from %g to %g\n", option, text, min,
		max);
	return -EINVAL;
}

/* Prints a line for a map: key and value in hexadecimal, in this machine's byte order. */
static int print_rate(double rate)
{
	struct trajectory_settings s = { .below = rate >= 1 ? UINT32_MAX : rate * 4294967296.0 };
	const uint8_t *bytes = (const uint8_t *)&s;

	s.below += !s.below;
	printf("00000000 ");
	for (size_t i = 0; i < sizeof(s); i++)
		printf("%02x", bytes[i]);
	putchar('\n');
	exit(fflush(stdout) ? 1 : 0);
}

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },	    { "packets", no_argument, NULL, 'p' },
	{ "series", required_argument, NULL, 's' }, { "window", required_argument, NULL, 'w' },
	{ "labels", required_argument, NULL, 'l' }, { "fill-rate", required_argument, NULL, 'r' },
	{ "help", no_argument, NULL, 'h' },	    { 0 },
};

static int option(int c)
{
	double n = 0;
	int err = 0;

	switch (c) {
	case 'j':
		program.json = true;
		break;
	case 'p':
		program.packets = true;
		break;
	case 's':
		err = number(&n, "series", optarg, 0.001, 1e6);
		program.links.interval_ns = n * 1e9;
		break;
	case 'w':
		err = number(&n, "window", optarg, 0.001, 3600);
		program.window_ns = n * 1e9;
		break;
	case 'l':
		err = number(&n, "labels", optarg, 1, LABELS_MAX);
		program.labels = n;
		break;
	case 'r':
		err = number(&n, "fill-rate", optarg, 1e-9, 1);
		return err ? err : print_rate(n);
	case 'h':
		fputs(usage, stdout);
		exit(0);
	default:
		err = -EINVAL;
	}
	return err;
}

static int read_options(int argc, char **argv)
{
	int c, err = 0;

	while (!err && (c = getopt_long(argc, argv, "h", options, NULL)) != -1)
		err = option(c);
	if (!err && optind < argc) {
		fprintf(stderr, "trajectory: %s: it reads standard input; try --help\n",
			argv[optind]);
		err = -EINVAL;
	}
	return err;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* A sensor's operator chooses its name, which may contain control characters. */
static void name_of(char name[LINKS_NAME_MAX], const struct consumer_event *e)
{
	snprintf(name, LINKS_NAME_MAX, "%s/%s%s", *e->sensor ? e->sensor : "here", e->interface,
		 e->direction == 2 ? " out" : "");
	for (; *name; name++)
		if ((unsigned char)*name < 0x20 || *name == 0x7f)
			*name = '?';
}

static void take(const struct consumer_event *e)
{
	struct trajectory_event said = { 0 };
	struct links *l = &program.links;
	char name[LINKS_NAME_MAX];
	struct point *p;
	uint32_t point;

	if (e->len != TRAJECTORY_SHORT && e->len != sizeof(said)) {
		program.bad++;
		return;
	}
	memcpy(&said, e->data, e->len);
	name_of(name, e);
	point = links_point(l, name);
	if (point == JOIN_NONE)
		return;
	p = &l->points[point];
	p->events++;
	p->below = said.below;
	if (!p->first_ns || e->time_ns < p->first_ns)
		p->first_ns = e->time_ns;
	if (e->time_ns > p->last_ns)
		p->last_ns = e->time_ns;
	if (e->len == sizeof(said))
		links_addresses(l, &said);
	p->late += !join_take(&program.join, point, &said, e->time_ns);
}

static void report(uint64_t bad)
{
	join_end(&program.join);
	links_end(&program.links);
	if (program.json)
		report_json(&program.links, &program.join, bad);
	else
		report_text(&program.links, &program.join, bad);
}

int main(int argc, char **argv)
{
	static struct consumer c;
	struct consumer_event e;
	int err;

	program.window_ns = WINDOW_DEFAULT * 1000000000ULL;
	program.labels = LABELS_DEFAULT;
	if (read_options(argc, argv))
		return 2;
	if (join_init(&program.join, program.labels, program.window_ns, done, NULL)) {
		fprintf(stderr, "trajectory: no memory for %u labels\n", program.labels);
		return 1;
	}
	program.links.series = series;
	err = consumer_open(&c, "trajectory");
	while (!err || err == 1) {
		err = consumer_next(&c, &e, 1000);
		if (err == 1)
			take(&e);
		else if (fflush(stdout))
			err = -EIO;
	}
	if (err == -ENODATA)
		report(program.bad + c.bad_lines);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "trajectory: cannot write: %s\n", strerror(errno));
		err = -EIO;
	}
	links_free(&program.links);
	join_free(&program.join);
	consumer_close(&c);
	return err == -ENODATA ? 0 : 1;
}
