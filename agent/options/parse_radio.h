/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of radios: which channels each interface's listens to. Behind an -i they are that one's,
 * in front of all everyone's, as in dumpcap(1).
 */
#ifndef AGENT_OPTIONS_PARSE_RADIO_H
#define AGENT_OPTIONS_PARSE_RADIO_H

#include "parse_capture.h"

enum {
	OPT_CHANNEL = 400,
	OPT_CHANNELS,
	OPT_DWELL,
	OPT_STRATEGY,
	OPT_FLOOR,
	OPT_SETTLE,
};

/* Their rows in a command's table. */
#define RADIO_OPTION_DEFS                                                                          \
	{ OPT_CHANNEL, "channel", "CHANNEL",                                                       \
	  "tune the radio of the -i before it; before all: of each" },                             \
		{ OPT_CHANNELS, "channels", "LIST",                                                \
		  "listen to one channel after the other: 1,6x2,36/80@1s or\n"                     \
		  "all; where, as for --channel" },                                                \
		{ OPT_DWELL, "dwell", "TIME",                                                      \
		  "to each, where LIST does not say: 250ms (default) or 2s" },                     \
		{ OPT_STRATEGY, "strategy", "equal|proportional",                                  \
		  "proportional: dwells follow the traffic that is heard\n"                        \
		  "(default equal)" },                                                             \
		{ OPT_FLOOR, "floor", "PERCENT",                                                   \
		  "of the time for each channel at least, then (default 5,\n"                      \
		  "which 20 channels use up)" },                                                   \
	{                                                                                          \
		OPT_SETTLE, "settle", "TIME",                                                      \
			"mark frames heard so soon after a switch (default 2ms)"                   \
	}

/* Takes option `id` of the table above, with its value in optarg. Returns 0, -ENOENT where it is
 * none of them, -EINVAL after a line that says what is wrong. */
int radio_option(struct capture_options *o, int id);
/* When all are taken: what is asked of each interface. Returns 0, or -EINVAL after a line. */
int radio_options_check(struct capture_options *o);

#endif
