// SPDX-License-Identifier: GPL-2.0
/* saluki-merge stats: prints what a report of a unified trace needs (stats.h). In: untrusted files.
 * Out: a summary, or one JSON object. */
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/log.h"
#include "merge/output/stats_print.h"

#define SENSORS_DEFAULT 100
#define TRANSMITTERS_DEFAULT 60

enum {
	OPT_JSON = 256,
	OPT_STATIONS,
	OPT_NEAR,
	OPT_CLOCKS,
	OPT_SENSORS,
	OPT_TRANSMITTERS,
	OPT_POINTS
};

const struct option_def stats_defs[] = {
	{ OPT_JSON, "json", NULL, "print one JSON object, for saluki-merge-report" },
	{ OPT_STATIONS, "stations", NULL,
	  "print air time and retransmissions of the busiest\n"
	  "transmitters, a line each with tabs between the columns" },
	{ OPT_NEAR, "near", "SENSOR,...",
	  "count only transmissions that one of these sensors has\n"
	  "heard strongest" },
	{ OPT_CLOCKS, "clocks", "FILE",
	  "the table of clocks (default: the first trace's name with\n"
	  ".clocks.tsv instead of .pcapng, if there is such a file)" },
	{ OPT_SENSORS, "sensors", "N",
	  "values over time, and matrices, of the N sensors that have\n"
	  "heard most, at most 400 (default 100)" },
	{ OPT_TRANSMITTERS, "transmitters", "N",
	  "the N transmitters that have sent most, at most 400\n(default 60)" },
	{ OPT_POINTS, "points", "N",
	  "this many points in time, at most 250; without it, one a second,\nbut 20 to 200" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

struct stats_command {
	struct stats_options stats;
	const char *clocks;
	bool json, stations;
};

static void help(void)
{
	printf("Usage: saluki-merge stats [OPTION]... FILE...\n\n"
	       "Prints figures of a unified trace: clocks, who hears whom, air time, coverage, "
	       "retries.\n"
	       "'saluki-merge stats --json FILE | saluki-merge-report >report.html' makes a page "
	       "of them.\n\n");
	options_print(stdout, stats_defs);
	printf("\nExit status: 0 finished, 1 failed, 2 bad usage.\n");
}

static int take_number(const char *flag, long max, uint32_t *to)
{
	long n;

	if (options_number(flag, optarg, 1, max, &n))
		return EXIT_USAGE;
	*to = n;
	return 0;
}

static int take(struct stats_command *c, int id)
{
	switch (id) {
	case OPT_JSON:
		c->json = true;
		return 0;
	case OPT_STATIONS:
		c->stations = true;
		return 0;
	case OPT_NEAR:
		c->stats.near = optarg;
		return 0;
	case OPT_CLOCKS:
		c->clocks = optarg;
		return 0;
	case OPT_SENSORS:
		return take_number("--sensors", STATS_TOP_MAX, &c->stats.sensors);
	case OPT_TRANSMITTERS:
		return take_number("--transmitters", STATS_TOP_MAX, &c->stats.transmitters);
	case OPT_POINTS:
		return take_number("--points", STATS_POINTS_MAX, &c->stats.points);
	case 'h':
		help();
		return -1;
	default:
		return EXIT_USAGE;
	}
}

/* Returns 0, -1 if all is done, or an exit status after a line. */
static int parse(struct stats_command *c, int argc, char **argv)
{
	int id, status = 0;

	*c = (struct stats_command){
		.stats = { SENSORS_DEFAULT, TRANSMITTERS_DEFAULT, NULL, 0 },
	};
	while (!status && (id = options_next(stats_defs, argc, argv)) != -1)
		status = take(c, id);
	if (!status && optind == argc) {
		log_line("%s: give a trace that saluki-merge has written; see 'saluki-merge %s "
			 "--help'",
			 argv[0], argv[0]);
		status = EXIT_USAGE;
	}
	return status;
}

static int read_all(struct stats *s, char *const *files, int count)
{
	int err = 0;

	for (int i = 0; !err && i < count; i++)
		err = trace_read(files[i], stats_block, s);
	if (err == -ENOMEM)
		log_line("out of memory");
	return err;
}

/* Returns 0, or an error after a line. */
static int measure(struct stats *s, char *const *files, int count)
{
	int err = read_all(s, files, count);

	if (err)
		return err;
	if (!s->sensor_count) {
		if (s->elsewhere)
			log_line("--near %s: these sensors have heard no transmission strongest; "
				 "check "
				 "their names",
				 s->options.near);
		else
			log_line(
				"%s: has no receptions; give a trace that saluki-merge has written "
				"without --all",
				files[0]);
		return -ENODATA;
	}
	err = stats_measure(s);
	if (err)
		log_line("out of memory");
	return err ?: read_all(s, files, count);
}

/* Returns 0, or -ENOENT if the user named no table and the default one does not exist, or another
 * error after a line. */
static int read_clocks(struct stats_clocks *clocks, const struct stats *s, const char *given,
		       const char *trace)
{
	static const char ending[] = ".pcapng";
	size_t len = strlen(trace), end = sizeof(ending) - 1;
	char *path;
	int err;

	if (len > end && !strcmp(trace + len - end, ending))
		len -= end;
	if (asprintf(&path, "%.*s.clocks.tsv", (int)len, trace) < 0)
		return -ENOMEM;
	err = stats_clocks_read(clocks, s, given ?: path);
	if (err == -ENOENT && given) {
		log_line("--clocks %s: %s", given, strerror(ENOENT));
		err = -EINVAL;
	}
	free(path);
	return err;
}

static int print(const struct stats_command *c, const struct stats *s, const char *trace)
{
	struct stats_clocks *clocks = calloc(1, sizeof(*clocks));
	int err = clocks ? read_clocks(clocks, s, c->clocks, trace) : -ENOMEM;

	if (!err || err == -ENOENT) {
		if (c->stations)
			stats_print_stations(stdout, s);
		else if (c->json)
			stats_print(stdout, s, err ? NULL : clocks);
		else
			stats_print_summary(stdout, s);
		err = fflush(stdout) || ferror(stdout) ? -errno : 0;
		if (err && err != -EPIPE)
			log_line("standard output: %s", strerror(-err));
	}
	if (clocks)
		stats_clocks_free(clocks);
	free(clocks);
	return err;
}

int stats_main(int argc, char **argv)
{
	struct stats_command c;
	struct stats s;
	int status = parse(&c, argc, argv), err;

	if (status)
		return status < 0 ? 0 : status;
	if (sodium_init() < 0) {
		log_line("libsodium does not start on this machine");
		return 1;
	}
	err = stats_init(&s, &c.stats);
	if (err)
		log_line("out of memory");
	err = err ?: measure(&s, argv + optind, argc - optind);
	err = err ?: print(&c, &s, argv[optind]);
	stats_free(&s);
	return err != 0;
}
