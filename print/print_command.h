/* SPDX-License-Identifier: GPL-2.0 */
/* The options of all commands that print frames, as rows of their tables. */
#ifndef PRINT_PRINT_COMMAND_H
#define PRINT_PRINT_COMMAND_H

#include "print_options.h"

/* The number of the option without a letter; a command's own are others. */
enum { PRINT_OPTION_DISSECTOR = 500 };

#define PRINT_OPTION_DEFS                                                                          \
	{ 'n', "numeric", NULL, "print numbers instead of names" },                                \
		{ 'e', "link-layer", NULL, "print link-layer addresses" },                         \
		{ 'v', "verbose", NULL, "print more of each frame; -vv, -vvv: still more" },       \
		{ 't', "time", NULL, "print no time; -tt, -ttt, -tttt: other forms of tcpdump" },  \
		{ 'A', "ascii", NULL, "print each frame as text" },                                \
		{ 'x', "hex", NULL, "print each frame in hexadecimal; -xx: from its first byte" }, \
		{ 'X', "hex-ascii", NULL,                                                          \
		  "print each frame in hexadecimal and as text; -XX as -xx" },                     \
	{                                                                                          \
		PRINT_OPTION_DISSECTOR, "dissector", "auto|tcpdump|tshark|short",                  \
			"what prints frames (default auto: tcpdump, or for\n"                      \
			"several interfaces tshark); short: our own line"                          \
	}

/* Parses option `id` of these rows, with its value in optarg. Returns 0, -ENOENT for another
 * option, or -EINVAL after a line. */
int print_command_option(struct print_options *p, int id);

#endif
