// SPDX-License-Identifier: GPL-2.0
/* The command line of saluki-merge. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/commands.h"
#include "common/completion.h"
#include "common/log.h"
#include "common/rotate_options.h"
#include "common/suggest.h"
#include "common/version.h"

enum { OPT_ALL = 256, OPT_CHANNEL, OPT_COMPLETION, OPT_FLOOR, OPT_REACH, OPT_VERSION };

#define REACH_DEFAULT 2 /* floors */

static const struct option_def defs[] = {
	{ 'r', "read", "FILE",
	  "read this file, or a folder's pcapng files; several times, or as\n"
	  "FILE behind the options; - is the live stream on standard input" },
	{ 'w', "write", "DIR|FILE|-",
	  "write the trace here, and a table of the clocks beside it; - is\n"
	  "standard output, without the table (default -)" },
	{ 'C', "rotate-size", "SIZE",
	  "start a new file after this many million bytes; suffix K,\n"
	  "M or G: powers of 1024" },
	{ OPT_ALL, "all", NULL, "write every reception, on its own interface" },
	{ OPT_FLOOR, "floor", "LIST",
	  "write only transmissions of these floors, such as 2 or 1,2;\n"
	  "'none' stands for sensors without a floor" },
	{ OPT_REACH, "reach", "FLOORS",
	  "with --floor: use the sensors of so many floors above and\n"
	  "below, too (default 2)" },
	{ OPT_CHANNEL, "channel", "LIST",
	  "write only transmissions of these channels, such as 1,6,36;\n"
	  "'none' stands for frames without a channel" },
	{ 'q', "quiet", NULL, "log only warnings and errors; no ledger, no progress" },
	{ OPT_COMPLETION, "completion", NULL, "print completion for bash" },
	{ OPT_VERSION, "version", NULL, "print the version" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static const struct command_def commands[] = {
	{ "receptions", receptions_main, receptions_defs, "print who has heard what" },
	{ "check", check_main, check_defs, "check the ledger of a trace" },
	{ "stats", stats_main, stats_defs, "print figures for a report" },
	{ 0 },
};

const struct command_def *options_command(const char *name)
{
	return options_find_command(commands, name);
}

static void help(void)
{
	printf("Usage: saluki-merge [OPTION]... FILE|DIR...\n"
	       "       saluki-merge [OPTION]... -r -\n"
	       "       saluki-merge receptions|check|stats FILE...\n\n"
	       "Merges what many sensors have heard into one trace, by one clock: a frame for "
	       "each\n"
	       "transmission, and who heard it. 'saluki-live -w - | saluki-merge -r - -w DIR' "
	       "merges\n"
	       "while the collector writes.\n\n");
	options_print(stdout, defs);
	printf("\nA killed merge of files goes on if it is started again.\n"
	       "Exit status: 0 finished, 1 failed or damaged input, 2 bad usage.\n");
}

static int add_path(struct merge_options *o, char *path)
{
	if (!strcmp(path, "-")) {
		o->pipe = true;
		return 0;
	}
	o->paths[o->path_count++] = path;
	return 0;
}

static int parse_reach(struct slice *s)
{
	long floors;

	if (options_number("--reach", optarg, 1, 10000, &floors))
		return -EINVAL;
	s->reach = floors;
	return 0;
}

static int parse_option(struct merge_options *o, int id)
{
	switch (id) {
	case 'r':
		return add_path(o, optarg);
	case 'w':
		o->write = optarg;
		return 0;
	case 'C':
		return rotate_size(optarg, &o->rotate_bytes);
	case OPT_ALL:
		o->all = true;
		return 0;
	case OPT_FLOOR:
		return slice_read_floors(&o->slice, optarg);
	case OPT_REACH:
		return parse_reach(&o->slice);
	case OPT_CHANNEL:
		return slice_read_channels(&o->slice, optarg);
	default: /* else getopt_long has logged the error */
		return options_log_level(id, &o->log_level) ? 0 : -EINVAL;
	}
}

/* A word that is nearly a command, and no file. */
static bool is_command(const char *word)
{
	struct suggest s;

	suggest_begin(&s, word, strlen(word));
	for (const struct command_def *c = commands; c->name; c++)
		suggest_offer(&s, c->name);
	return s.word && strpbrk(word, "./") == NULL;
}

static int check(const struct merge_options *o, char **argv)
{
	const char *wrong = NULL;

	if (o->path_count && o->paths[0] == argv[1] && is_command(argv[1])) {
		options_no_command(commands, "saluki-merge", argv[1]);
		return -EINVAL;
	}
	if (o->pipe && o->path_count)
		wrong = "-r - does not go with files";
	else if (!o->pipe && !o->path_count)
		wrong = "give the files of saluki-collector, their folder, or -r - for its live "
			"stream";
	else if (o->pipe && isatty(STDIN_FILENO))
		wrong = "-r -: standard input is a terminal; pipe into it: 'saluki-live -w - | "
			"saluki-merge -r -'";
	else if (o->all && !slice_is_whole(&o->slice))
		wrong = "--all does not go with --floor and --channel";
	else if (o->slice.reach && !o->slice.floor_count)
		wrong = "--reach goes with --floor";
	else
		wrong = rotate_wrong(o->write, o->rotate_bytes, false);
	if (wrong)
		log_line("%s", wrong);
	return wrong ? -EINVAL
		     : options_check_output(o->write, "saluki-merge ... -w - | tshark -r -");
}

int options_parse(struct merge_options *o, int argc, char **argv)
{
	int id;

	*o = (struct merge_options){ .write = "-", .paths = calloc(argc, sizeof(*o->paths)) };
	if (!o->paths) {
		log_line("out of memory");
		return 1;
	}
	while ((id = options_next(defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (id == OPT_COMPLETION)
			return completion_print("saluki-merge", defs, commands, true, NULL, NULL)
				       ? 1
				       : -1;
		if (id == OPT_VERSION) {
			printf("saluki-merge %s\n", SALUKI_VERSION);
			return -1;
		}
		if (parse_option(o, id))
			return EXIT_USAGE;
	}
	for (; optind < argc; optind++)
		add_path(o, argv[optind]);
	if (check(o, argv))
		return EXIT_USAGE;
	o->slice.reach = o->slice.reach ?: REACH_DEFAULT;
	return 0;
}

void options_free(struct merge_options *o)
{
	free(o->paths);
}
