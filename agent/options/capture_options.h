/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What to capture, and how: the options that every command that attaches takes (run, attach).
 * Strings point into argv.
 */
#ifndef AGENT_OPTIONS_CAPTURE_OPTIONS_H
#define AGENT_OPTIONS_CAPTURE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <saluki/options.h>

#include "agent/filter/filter.h"
#include "agent/radio/plan.h"

#define INTERFACES_MAX 8

enum keep { KEEP_DEFAULT, KEEP_HEADERS, KEEP_ALL };
enum bad_fcs { BAD_FCS_DEFAULT, BAD_FCS_KEEP, BAD_FCS_DROP };
enum source_choice { SOURCE_AUTO, SOURCE_XDP, SOURCE_TC, SOURCE_MMAP, SOURCE_XSK };
enum ring_kind { RING_BPF, RING_MAPPED };
enum direction { DIRECTION_IN, DIRECTION_OUT, DIRECTION_INOUT };

struct capture_options {
	const char *interfaces[INTERFACES_MAX]; /* -i, in their order: an index is a number */
	/* Each one's, where it has one alone; of 0 MHz: it has none, or several. */
	struct radio_channel channels[INTERFACES_MAX];
	struct plan_asked plans[INTERFACES_MAX];
	unsigned int count;
	struct plan_asked plan;	       /* of the next -i */
	bool steered;		       /* the collector may say which channels there are */
	bool monitors[INTERFACES_MAX]; /* each one's --monitor: radio/monitor.h */
	bool monitor;		       /* of the next -i */
	uint32_t snaplen;	       /* bytes */
	enum keep keep;
	enum bad_fcs bad_fcs; /* not asked for: frames are kept as they come */
	enum source_choice source;
	enum direction direction;
	bool consume;
	enum ring_kind ring;
	uint32_t ring_size; /* bytes, a power of two */
	uint32_t delay_ms;  /* that the kernel may keep a frame to itself; 0: as it likes */
	bool persistent;    /* what is attached stays: saluki attach */
	struct filter_given filter;
	unsigned int given; /* bits of enum capture_given: the others are defaults */
};

enum capture_given {
	GIVEN_SNAPLEN = 1,
	GIVEN_KEEP = 2,
	GIVEN_SOURCE = 4,
	GIVEN_DIRECTION = 8,
	GIVEN_CONSUME = 16,
	GIVEN_RING = 32,
	GIVEN_RING_SIZE = 64,
	GIVEN_FILTER = 128,
	GIVEN_CHANNEL = 256,
	GIVEN_BAD_FCS = 512,
	GIVEN_MONITOR = 1024,
};

/* Numbers of the options without a letter; a command's own begin at OPT_OWN. */
enum {
	OPT_KEEP = 256,
	OPT_BAD_FCS,
	OPT_SOURCE,
	OPT_RING,
	OPT_CONSUME,
	OPT_FILTER_CODE,
	OPT_OWN = 300,
};

/* Their rows in a command's table. */
#define CAPTURE_OPTION_DEFS                                                                        \
	{ 's', "snaplen", "BYTES", "keep at most this much of a frame (default 192)" },            \
		{ OPT_KEEP, "keep", "headers|all",                                                 \
		  "headers: nothing behind the headers of data frames\n"                           \
		  "(default on 802.11); all: up to the snaplen" },                                 \
		{ OPT_BAD_FCS, "bad-fcs", "keep|drop",                                             \
		  "frames received with a wrong FCS, which are counted\n"                          \
		  "(default keep)" },                                                              \
		{ OPT_SOURCE, "source", "auto|xdp|tc|mmap|xsk",                                    \
		  "capture hook (default auto: the best that attaches);\n"                         \
		  "xsk: AF_XDP, frames are consumed" },                                            \
		{ 'Q', "direction", "in|out|inout",                                                \
		  "frames received, sent or both (default in; not xdp)" },                         \
		{ OPT_CONSUME, "consume", NULL,                                                    \
		  "drop frames after capture: for a dedicated capture port" },                     \
		{ OPT_RING, "ring", "bpf|mapped",                                                  \
		  "kernel ring (default bpf): mapped is faster, and takes\n"                       \
		  "--ring-size for each CPU" },                                                    \
		{ 'B', "ring-size", "KIB",                                                         \
		  "size of the kernel ring, a power of two (default 4096)" },                      \
	{                                                                                          \
		OPT_FILTER_CODE, "filter-code", "FILE",                                            \
			"a filter as 'tcpdump -ddd' prints it, in place of an expression"          \
	}

/* The defaults. */
void capture_options_init(struct capture_options *o);
/* Takes option `id` of the table above, or -i, with its value in optarg. Returns 0, -ENOENT where
 * it is none of them, -EINVAL after a line that says what is wrong. */
int capture_option(struct capture_options *o, int id);
/* Takes what is left of a command line as the filter's expression. Returns 0, or -EINVAL after a
 * line. */
int capture_expression(struct capture_options *o, int argc, char **argv);
/* What one option alone cannot tell. NULL, or what is wrong. */
const char *capture_options_wrong(const struct capture_options *o);
/* What means nothing for a file: all but -i, -s, --keep and --bad-fcs. */
#define GIVEN_FOR_INTERFACE                                                                        \
	(GIVEN_SOURCE | GIVEN_DIRECTION | GIVEN_CONSUME | GIVEN_RING | GIVEN_RING_SIZE |           \
	 GIVEN_CHANNEL | GIVEN_MONITOR)

/* Both read optarg. Return 0, or -EINVAL after a line. */
int parse_number(const char *flag, long min, long max, uint32_t *out);
int parse_power_of_two(const char *flag, long min, long max, uint32_t *out);

#endif
