/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of radios: the channels of each interface. After an -i they apply to it, before the first
 * -i to all, as in dumpcap(1).
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
	  "tune the -i before it; before all -i: each of them" },                                  \
		{ OPT_CHANNELS, "channels", "LIST",                                                \
		  "sample these channels in turn: 1,6x2,36/80@1s or all;\n"                        \
		  "position as for --channel" },                                                   \
		{ OPT_DWELL, "dwell", "TIME",                                                      \
		  "time on each channel, unless LIST says otherwise, as 2s\n"                      \
		  "(default 250ms)" },                                                             \
		{ OPT_STRATEGY, "strategy", "equal|proportional",                                  \
		  "proportional: time on a channel follows its traffic\n"                          \
		  "(default equal)" },                                                             \
		{ OPT_FLOOR, "floor", "PERCENT",                                                   \
		  "proportional: minimum share of each channel (default 5;\n"                      \
		  "20 channels fill the cycle)" },                                                 \
	{                                                                                          \
		OPT_SETTLE, "settle", "TIME",                                                      \
			"mark frames for this long after a switch (default 2ms)"                   \
	}

/* Parses option `id` of the table above, with its value in optarg. Returns 0, -ENOENT for another
 * option, or -EINVAL after a line. */
int radio_option(struct capture_options *o, int id);
/* Call it after all options: computes each interface's request. Returns 0, or -EINVAL after a
 * line. */
int radio_options_check(struct capture_options *o);

#endif
