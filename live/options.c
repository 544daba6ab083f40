// SPDX-License-Identifier: GPL-2.0
/* The command line of saluki-live. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/completion.h"
#include "common/log.h"
#include "common/options.h"
#include "common/version.h"
#include "print/print_command.h"
#include "select.h"
#include "wire/live.h"

enum {
	OPT_COLLECTOR = 256,
	OPT_SENSOR,
	OPT_GROUP,
	OPT_CHANNEL,
	OPT_INSTALL,
	OPT_COMPLETION,
	OPT_VERSION
};

static const struct option_def defs[] = {
	{ OPT_COLLECTOR, "collector", "PATH|USER@HOST",
	  "the collector's socket, or its machine by ssh\n"
	  "(default " LIVE_PATH ")" },
	{ OPT_SENSOR, "sensor", "NAME",
	  "frames of this sensor only; several with commas, @GROUP for a group's" },
	{ OPT_GROUP, "group", "NAME", "frames of this group's sensors only" },
	{ OPT_CHANNEL, "channel", "LIST", "frames heard on these channels only, such as 1,6,36" },
	{ 'c', "frames", "COUNT", "end after this many frames" },
	{ 'w', "write", "FILE", "write pcapng; - is standard output. Else print frames" },
	PRINT_OPTION_DEFS,
	{ OPT_INSTALL, "install-extcap", NULL,
	  "let this user's Wireshark list the interface Saluki" },
	{ OPT_COMPLETION, "completion", NULL, "print completion for bash" },
	{ OPT_VERSION, "version", NULL, "print the version" },
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(void)
{
	printf("Usage: saluki-live [OPTION]... [EXPRESSION]\n\n"
	       "Shows the frames that a collector on this machine writes, while it writes them.\n"
	       "EXPRESSION is a capture filter as tcpdump takes it, see pcap-filter(7).\n"
	       "'saluki-live -w - | wireshark -k -i -' shows the frames in Wireshark.\n\n");
	options_print(stdout, defs);
	printf("\nExit status: 0 finished, 1 failed, 2 bad usage.\n");
}

static int parse_count(struct live_options *o)
{
	long n;
	int err = options_number("--frames", optarg, 1, 1000000000, &n);

	o->count = err ? 0 : n;
	return err;
}

bool options_far(const struct live_options *o)
{
	return o->collector && !strchr(o->collector, '/') && strchr(o->collector, '@');
}

static int parse_collector(struct live_options *o)
{
	o->collector = optarg;
	if (strchr(optarg, '/') || options_far(o))
		return 0;
	log_line("--collector %s: must be a path with a slash, or USER@HOST", optarg);
	return -EINVAL;
}

/* The list is read again when frames are chosen. */
static int parse_channels(struct live_options *o)
{
	static struct select x;
	char why[SELECT_WHY_MAX];

	o->channels = optarg;
	if (!select_channels(&x, optarg, why))
		return 0;
	log_line("--channel %s: %s", optarg, why);
	return -EINVAL;
}

static int parse_option(struct live_options *o, int id)
{
	switch (id) {
	case OPT_COLLECTOR:
		return parse_collector(o);
	case OPT_SENSOR:
		o->sensors = optarg;
		return 0;
	case OPT_GROUP:
		o->group = optarg;
		return 0;
	case OPT_CHANNEL:
		return parse_channels(o);
	case 'c':
		return parse_count(o);
	case 'w':
		o->write = optarg;
		return 0;
	case OPT_INSTALL:
		o->install = true;
		return 0;
	default: /* else getopt_long has logged the error */
		return print_command_option(&o->print, id) ? -EINVAL : 0;
	}
}

/* The words with a blank between them, as tcpdump joins them. */
static int join(struct live_options *o, int count, char **words)
{
	size_t len = 1;

	for (int i = 0; i < count; i++)
		len += strlen(words[i]) + 1;
	o->expression = calloc(1, len);
	if (!o->expression)
		return -ENOMEM;
	for (int i = 0; i < count; i++) {
		strcat(o->expression, i ? " " : "");
		strcat(o->expression, words[i]);
	}
	return 0;
}

int options_check_terminal(const char *write)
{
	return write ? options_check_output(write, "saluki-live -w - | tshark -r -") : 0;
}

int options_parse(struct live_options *o, int argc, char **argv)
{
	int id;

	*o = (struct live_options){ .collector = LIVE_PATH, .print.names = true };
	while ((id = options_next(defs, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (id == OPT_COMPLETION)
			return completion_print("saluki-live", defs, NULL, true, NULL, NULL) ? 1
											     : -1;
		if (id == OPT_VERSION) {
			printf("saluki-live %s\n", SALUKI_VERSION);
			return -1;
		}
		if (parse_option(o, id))
			return EXIT_USAGE;
	}
	if (join(o, argc - optind, argv + optind)) {
		log_line("out of memory");
		return 1;
	}
	return options_check_terminal(o->write) ? EXIT_USAGE : 0;
}

void options_free(struct live_options *o)
{
	free(o->expression);
}
