// SPDX-License-Identifier: GPL-2.0
/* The command line of saluki-keep. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/completion.h"
#include "common/duration.h"
#include "common/log.h"
#include "common/version.h"
#include "find/find.h"
#include "find/find_options.h"

enum {
	OPT_COMPRESS = 256,
	OPT_COLUMNS,
	OPT_COLUMNS_AGE,
	OPT_MAX_AGE,
	OPT_MAX_BYTES,
	OPT_MIN_FREE,
	OPT_FINISHED,
	OPT_ONCE,
	OPT_INSTALL,
	OPT_COMPLETION,
	OPT_VERSION,
};

static const struct option_def defs[] = {
	{ OPT_COMPRESS, "compress", "zstd|none", "compress closed files, or not (default zstd)" },
	{ OPT_COLUMNS, "columns", "DIR", "write tables of all frames here, as Parquet files" },
	{ OPT_COLUMNS_AGE, "columns-age", "TIME",
	  "delete tables of days before this time; default: never" },
	{ OPT_MAX_AGE, "max-age", "TIME",
	  "delete files that were written last before this time: a\n"
	  "number with h, d or w" },
	{ OPT_MAX_BYTES, "max-bytes", "SIZE",
	  "delete the oldest files if all have more bytes; suffix K, M,\n"
	  "G or T: powers of 1024" },
	{ OPT_MIN_FREE, "min-free", "SIZE|PERCENT",
	  "delete the oldest files if less is free on the disk; more\n"
	  "than the collector's --keep-free" },
	{ OPT_FINISHED, "finished", NULL,
	  "nobody writes here any more: pack the newest file of each\n"
	  "series too, and files of no series" },
	{ OPT_ONCE, "once", NULL, "do what is to be done now, and end" },
	{ 'q', "quiet", NULL, "log only warnings and errors" },
	{ 'v', "verbose", NULL, "log each file" },
	{ OPT_INSTALL, "install-extcap", NULL,
	  "let this user's Wireshark list the interface Saluki archive" },
	{ OPT_COMPLETION, "completion", NULL, "print completion for bash" },
	{ OPT_VERSION, "version", NULL, "print the version" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static const struct command_def commands[] = {
	{ "find", find_main, find_defs, "search the files" },
	{ 0 },
};

const struct command_def *options_command(const char *name)
{
	return options_find_command(commands, name);
}

static void help(void)
{
	printf("Usage: saluki-keep [OPTION]... DIR\n"
	       "       saluki-keep find [OPTION]... DIR [EXPRESSION]\n"
	       "       saluki-keep --install-extcap\n\n"
	       "Keeps the capture files in DIR, where saluki-collector or saluki-merge writes "
	       "them:\n"
	       "compresses each file when it is closed, makes its index, and deletes the "
	       "oldest.\n\n");
	options_print(stdout, defs);
	printf("\nExit status: 0 finished, or stopped by a signal; 1 failed; 2 bad usage.\n");
}

/* ---- values ---------------------------------------------------------------------------------- */

#define AGE_HOURS_MAX 2000000 /* of nanoseconds, more do not fit into 63 bits */

/* A whole number of hours, days or weeks. */
static int parse_age(const char *option, const char *text, uint64_t *us)
{
	static const char units[] = "hdw";
	static const unsigned int hours[] = { 1, 24, 7 * 24 };
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (*text < '0' || *text > '9' || !unit || end[1] || !n ||
	    n > AGE_HOURS_MAX / hours[unit - units]) {
		log_line("%s %s: must be a number with h, d or w, such as 36h, 14d or 8w", option,
			 text);
		return -EINVAL;
	}
	*us = n * hours[unit - units] * 3600 * 1000000ULL;
	return 0;
}

static int parse_bytes(const char *text, uint64_t *bytes)
{
	struct space s;

	if (space_parse("--max-bytes", text, &s))
		return -EINVAL;
	if (s.percent || !s.bytes) {
		log_line("--max-bytes %s: must be a size such as 500G; for a percentage of the "
			 "disk, "
			 "use --min-free",
			 text);
		return -EINVAL;
	}
	*bytes = s.bytes;
	return 0;
}

static int parse_option(struct keep_options *o, int id)
{
	static const char *const words[] = { "zstd", "none", NULL };
	int word;

	switch (id) {
	case OPT_COMPRESS:
		if (options_choice("--compress", optarg, words, &word))
			return -EINVAL;
		o->compress = word == 0;
		return 0;
	case OPT_COLUMNS:
		o->columns = optarg;
		return 0;
	case OPT_MAX_AGE:
		return parse_age("--max-age", optarg, &o->max_age_us);
	case OPT_COLUMNS_AGE:
		return parse_age("--columns-age", optarg, &o->columns_age_us);
	case OPT_MAX_BYTES:
		return parse_bytes(optarg, &o->max_bytes);
	case OPT_MIN_FREE:
		o->has_min_free = true;
		return space_parse("--min-free", optarg, &o->min_free);
	case OPT_FINISHED:
		o->finished = true;
		return 0;
	case OPT_ONCE:
		o->once = true;
		return 0;
	case OPT_INSTALL:
		o->install = true;
		return 0;
	default: /* else getopt_long has logged the error */
		return options_log_level(id, &o->log_level) ? 0 : -EINVAL;
	}
}

static int take_folder(struct keep_options *o, int argc, char **argv)
{
	if (o->columns_age_us && !o->columns) {
		log_line("--columns-age needs --columns");
		return -EINVAL;
	}
	if (optind == argc) {
		log_line("give the folder of the capture files: saluki-keep DIR");
		return -EINVAL;
	}
	if (optind + 1 < argc) {
		log_line("one folder at a time: %s is another one", argv[optind + 1]);
		return -EINVAL;
	}
	o->folder = argv[optind];
	return 0;
}

int options_parse(struct keep_options *o, int argc, char **argv)
{
	int id;

	*o = (struct keep_options){ .compress = true };
	while ((id = options_next(defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (id == OPT_COMPLETION)
			return completion_print("saluki-keep", defs, commands, true, NULL, NULL)
				       ? 1
				       : -1;
		if (id == OPT_VERSION) {
			printf("saluki-keep %s\n", SALUKI_VERSION);
			return -1;
		}
		if (parse_option(o, id))
			return EXIT_USAGE;
	}
	return !o->install && take_folder(o, argc, argv) ? EXIT_USAGE : 0;
}
