// SPDX-License-Identifier: GPL-2.0
/* The command line of `saluki capture`: see capture_command.h. The letters are tcpdump's and
 * dumpcap's. */
#include "capture_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/record.h>

#include "common/config.h"
#include "common/log.h"
#include "common/rotate_options.h"
#include "habits.h"
#include "print/print_command.h"
#include "sensor_options.h"
#include "subcommands.h"

#define LIVE_AGE_MS 50 /* --combo-age, if frames are printed or go to a pipe */

enum { OPT_CONFIG = OPT_SENSOR_OWN };

const struct option_def capture_defs[] = {
	SENSOR_INPUT_DEFS,
	{ 'w', "write", "FILE|DIR|-", "write pcapng; - is standard output. Else print frames" },
	{ 'c', "frames", "COUNT", "stop after this many frames" },
	ROTATE_OPTION_DEFS,
	PRINT_OPTION_DEFS,
	{ 'q', "quiet", NULL, "log only warnings and errors; no status line" },
	{ 'D', "list-interfaces", NULL, "print the interfaces that can be captured" },
	{ 'p', "no-promiscuous-mode", NULL, "leave the interface's mode as it is" },
	SENSOR_OPTION_DEFS("32768", ";\nall: up to the snaplen (default all)", "inout",
			   "1000;\n50 if frames are printed, or with -w -"),
	CONFIG_DEF(OPT_CONFIG),
	{ 'h', "help", NULL, "print this" },
	{ 0 },
};

static void help(void)
{
	printf("Usage: saluki capture -i IF [-w FILE|DIR|-] [-c COUNT] [OPTION]... [EXPRESSION]\n"
	       "       saluki capture -r FILE [-w FILE|DIR|-] [OPTION]... [EXPRESSION]\n"
	       "       saluki capture -D\n\n"
	       "Captures the frames that match a pcap-filter(7) expression on this machine, "
	       "without\n"
	       "keys and without a second command. Prints a line for each frame, or writes "
	       "pcapng.\n"
	       "Whole frames are kept, received and sent ones, and the interface is "
	       "promiscuous.\n\n");
	options_print(stdout, capture_defs);
	printf("\nSIGINT and SIGTERM end the capture and lose no frame; SIGUSR1 prints the "
	       "ledger.\n"
	       "Exit status: 0 all written, 1 failed, 2 bad usage.\n");
}

static int parse_count(uint64_t *count)
{
	char *end;

	errno = 0;
	*count = strtoull(optarg, &end, 10);
	if (*optarg >= '0' && *optarg <= '9' && !*end && !errno && *count)
		return 0;
	log_line("--frames %s: must be a whole number from 1", optarg);
	return -EINVAL;
}

static int parse_option(struct capture_command *c, int id)
{
	int err = print_command_option(&c->print, id);
	uint32_t number; /* the collector reads the texts again */
	uint64_t bytes;

	if (err != -ENOENT)
		return err;
	switch (id) {
	case 'w':
		c->write = optarg;
		return 0;
	case 'c':
		return parse_count(&c->run.count);
	case 'C':
		c->size = optarg;
		return rotate_size(optarg, &bytes);
	case 'G':
		c->time = optarg;
		return rotate_time(optarg, &number);
	case 'W':
		c->files = optarg;
		return rotate_count(optarg, &number);
	case 'q':
		c->run.log_level = LOG_LEVEL_QUIET;
		return 0;
	case 'D':
		c->list = true;
		return 0;
	case 'p':
		c->run.capture.promiscuous = false;
		return 0;
	default:
		return sensor_option(&c->run, id);
	}
}

static int check(const struct capture_command *c)
{
	const char *wrong = NULL;

	if (!c->run.capture.count == !c->run.file)
		wrong = c->run.file ? "give either -i IF or -r FILE"
				    : "-i IF is missing; 'saluki capture -D' lists interfaces";
	else if (!c->write && (c->size || c->time || c->files))
		wrong = "-C, -G and -W go with -w FILE";
	else if (c->write)
		wrong = rotate_wrong(c->write, c->size || c->time, c->files);
	if (wrong)
		log_line("capture: %s", wrong);
	if (wrong || !c->write)
		return wrong ? -EINVAL : 0;
	return options_check_output(c->write, "saluki capture ... -w - | wireshark -k -i -");
}

/* Sets tcpdump's defaults for options that were not given. */
static void set_defaults(struct capture_command *c)
{
	struct capture_options *o = &c->run.capture;
	bool received_only = o->source == SOURCE_XDP || o->source == SOURCE_XSK;

	if (!(o->given & GIVEN_DIRECTION) && !received_only)
		o->direction = DIRECTION_INOUT;
	o->no_xdp = o->source == SOURCE_AUTO;
	c->run.no_line = !c->write || !strcmp(c->write, "-");
	c->print.user = c->run.user;
	c->print.names = c->run.capture.count > 1;
	if (!c->run.combo_age_ms)
		c->run.combo_age_ms = c->write && strcmp(c->write, "-") ? 1000 : LIVE_AGE_MS;
}

int capture_command_parse(struct capture_command *c, int argc, char **argv)
{
	struct config_options in = { capture_defs, NULL, capture_habits, { 0 } };
	int id;

	*c = (struct capture_command){ .write = NULL };
	sensor_options_init(&c->run);
	c->run.local = true;
	c->run.capture.shares = true;
	c->run.combo_age_ms = 0; /* not given */
	c->run.capture.snaplen = SALUKI_SNAPLEN_MAX;
	c->run.capture.keep = KEEP_ALL;
	c->run.capture.promiscuous = true;
	if (config_begin(&in, argc, argv))
		return EXIT_USAGE;
	while ((id = config_option(&in, argc, argv)) != -1) {
		if (id == 'h') {
			help();
			return -1;
		}
		if (parse_option(c, id))
			return EXIT_USAGE;
		if (c->list)
			return 0;
	}
	if (capture_expression(&c->run.capture, argc, argv) || check(c))
		return EXIT_USAGE;
	set_defaults(c);
	if (sensor_options_finish(&c->run, "capture"))
		return EXIT_USAGE;
	return sensor_options_prepare(&c->run, "capture");
}
