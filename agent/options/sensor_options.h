/* SPDX-License-Identifier: GPL-2.0 */
/* The options that `saluki run` and `saluki capture` share: rows of their tables, and functions
 * that parse them into struct run_options. */
#ifndef AGENT_OPTIONS_SENSOR_OPTIONS_H
#define AGENT_OPTIONS_SENSOR_OPTIONS_H

#include "parse_capture.h"
#include "parse_radio.h"
#include "run_options.h"

enum {
	OPT_PACE = OPT_OWN,
	OPT_COMBO_SIZE,
	OPT_COMBO_AGE,
	OPT_PIPELINES,
	OPT_QUEUE,
	OPT_COMPRESS,
	OPT_USER,
	OPT_MONITOR,
	OPT_DEAF_AFTER,
	OPT_STORE_BYTES,
	OPT_SENSOR_OWN = 350, /* numbers of a command's own options begin here */
};

/* A build without libbpf is for small machines (Makefile). */
#ifdef WITHOUT_BPF
#define STORE_BYTES_DEFAULT (256 * 1024)
#define STORE_DEFAULT_TEXT "256K"
#else
#define STORE_BYTES_DEFAULT (4096 * 1024)
#define STORE_DEFAULT_TEXT "4M"
#endif

#define SENSOR_INPUT_DEFS                                                                          \
	{ 'i', "interface", "IF", "capture on this interface; may be given several times" },       \
	{                                                                                          \
		'r', "read", "FILE", "read a pcap or pcapng file instead; - is standard input"     \
	}

/* The texts have the defaults: of -s, --keep and -Q, and of --combo-age. */
#define SENSOR_OPTION_DEFS(snaplen, keep, direction, age_ms)                                       \
	RADIO_OPTION_DEFS,                                                                         \
		{ OPT_DEAF_AFTER, "deaf-after", "SECONDS",                                         \
		  "log a line if a radio hears no frame for this long\n"                           \
		  "(default 60; 0: never)" },                                                      \
		{ OPT_MONITOR, "monitor", NULL,                                                    \
		  "make a temporary monitor interface for the -i before it;\n"                     \
		  "before all -i: for each of them" },                                             \
		{ OPT_PACE, "pace", NULL, "with -r: keep the intervals between frames" },          \
		CAPTURE_OPTION_DEFS(snaplen, keep, direction),                                     \
		{ OPT_COMBO_SIZE, "combo-size", "BYTES",                                           \
		  "maximum size of a combo (default 14336)" },                                     \
		{ OPT_COMBO_AGE, "combo-age", "MS",                                                \
		  "close a combo at this age (default " age_ms ")" },                              \
		{ OPT_PIPELINES, "pipelines", "N", "threads that fill combos: 1 to 16" },          \
		{ OPT_QUEUE, "queue", "COMBOS",                                                    \
		  "queue before the export: 1, 2, 4 or 8 (default 8)" },                           \
		{ OPT_COMPRESS, "compress", "auto|none|N",                                         \
		  "zstd level, -50 to 9; auto: 1, lower while the CPU is the\n"                    \
		  "limit, higher while the network is (default auto)" },                           \
		{ OPT_STORE_BYTES, "store-bytes", "BYTES",                                         \
		  "memory for frames that the collector has not written;\n"                        \
		  "suffix K or M (default " STORE_DEFAULT_TEXT ")" },                              \
	{                                                                                          \
		OPT_USER, "user", "NAME", "user of the unprivileged process (default nobody)"      \
	}

/* The defaults of `saluki run`. */
void sensor_options_init(struct run_options *o);
/* Parses option `id` of the tables above, with its value in optarg. Returns 0, or -EINVAL after a
 * line. For an unknown option, the line was logged earlier. */
int sensor_option(struct run_options *o, int id);
/* After all options and the expression: checks combinations, and computes dependent settings.
 * Returns 0, or -EINVAL after a line that begins with `command`. */
int sensor_options_finish(struct run_options *o, const char *command);
/* Compiles a file's filter. Returns 0, or EXIT_FAILURE after a line. */
int sensor_options_prepare(struct run_options *o, const char *command);

/* Reads "65536" from optarg, or "64K" if `units` begins with K. Returns whether it is in range. */
bool sensor_option_size(uint64_t *bytes, const char *units, uint64_t min, uint64_t max);

#endif
