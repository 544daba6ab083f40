/* SPDX-License-Identifier: GPL-2.0 */
/* The options of all commands that attach (run, attach): struct capture_options. */
#ifndef AGENT_OPTIONS_PARSE_CAPTURE_H
#define AGENT_OPTIONS_PARSE_CAPTURE_H

#include <stdint.h>

#include "agent/model/capture_options.h"
#include "common/options.h"

/* Numbers of the options without a letter. A command's own options begin at OPT_OWN. */
enum {
	OPT_KEEP = 256,
	OPT_BAD_FCS,
	OPT_SOURCE,
	OPT_RING,
	OPT_CONSUME,
	OPT_FILTER_CODE,
	OPT_OWN = 300,
};

/* Their rows in a command's table, with the defaults of -s, --keep and -Q. */
#define CAPTURE_OPTION_DEFS(snaplen, keep, direction)                                              \
	{ 's', "snaplen", "BYTES",                                                                 \
	  "keep at most this much of each frame (default " snaplen ");\n"                          \
	  "0, or more than 32768: 32768" },                                                        \
		{ OPT_KEEP, "keep", "headers|all",                                                 \
		  "headers: remove the payload of data frames" keep },                             \
		{ OPT_BAD_FCS, "bad-fcs", "keep|drop",                                             \
		  "frames with a wrong FCS; they are always counted\n"                             \
		  "(default keep)" },                                                              \
		{ OPT_SOURCE, "source", "auto|xdp|tc|mmap|xsk",                                    \
		  "capture hook (default auto: the first that works);\n"                           \
		  "xsk: AF_XDP, consumes frames" },                                                \
		{ 'Q', "direction", "in|out|inout",                                                \
		  "frames received, sent or both (default " direction "; xdp: in only)" },         \
		{ OPT_CONSUME, "consume", NULL,                                                    \
		  "drop frames after capture: for a dedicated capture port" },                     \
		{ OPT_RING, "ring", "auto|bpf|mapped",                                             \
		  "kernel ring: mapped has one ring for each CPU; auto, the\n"                     \
		  "default, is mapped where it works" },                                           \
		{ 'B', "ring-size", "KIB",                                                         \
		  "size of the kernel ring, or of each CPU's ring, a power of\n"                   \
		  "two (default 4096)" },                                                          \
		{ 'F', "filter-file", "FILE", "read the filter expression from this file" },       \
	{                                                                                          \
		OPT_FILTER_CODE, "filter-code", "FILE",                                            \
			"read the filter from the output of 'tcpdump -ddd'"                        \
	}

#define CAPTURE_KEEP_TEXT "\n(default on 802.11); all: up to the snaplen"

/* The defaults. */
void capture_options_init(struct capture_options *o);
/* Parses option `id` of the table above, or -i, with its value in optarg. Returns 0, -ENOENT for
 * another option, or -EINVAL after a line. */
int capture_option(struct capture_options *o, int id);
/* Takes the rest of a command line as the filter's expression. Returns 0, or -EINVAL after a
 * line. */
int capture_expression(struct capture_options *o, int argc, char **argv);
/* Checks combinations of options. Returns NULL, or the error. */
const char *capture_options_wrong(const struct capture_options *o);
/* Checks for options without a meaning for a file: all except -i, -s, --keep and --bad-fcs. */
#define GIVEN_FOR_INTERFACE                                                                        \
	(GIVEN_SOURCE | GIVEN_DIRECTION | GIVEN_CONSUME | GIVEN_RING | GIVEN_RING_SIZE |           \
	 GIVEN_CHANNEL | GIVEN_MONITOR)

/* Both read optarg, and return 0, or -EINVAL after a line. */
int parse_number(const char *flag, long min, long max, uint32_t *out);
int parse_power_of_two(const char *flag, long min, long max, uint32_t *out);

#endif
