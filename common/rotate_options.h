/* SPDX-License-Identifier: GPL-2.0 */
/* The options of a series of files: rows for the tables of saluki-collector and of `saluki
 * capture`, which checks them and passes them to its collector. */
#ifndef COMMON_ROTATE_OPTIONS_H
#define COMMON_ROTATE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define ROTATE_OPTION_DEFS                                                                         \
	{ 'C', "rotate-size", "SIZE",                                                              \
	  "start a new file after this many million bytes; suffix K,\n"                            \
	  "M or G: powers of 1024" },                                                              \
		{ 'G', "rotate-time", "TIME",                                                      \
		  "start a new file after this many seconds; unit s, m or h;\n"                    \
		  "the FILE of -w may have conversions of strftime(3)" },                          \
	{                                                                                          \
		'W', "rotate-count", "COUNT",                                                      \
			"with -C or -G: keep at most this many files, delete the\n"                \
			"oldest that were written with -W"                                         \
	}

/* Each reads an option's value. Returns 0, or -EINVAL after a line. */
int rotate_size(const char *text, uint64_t *bytes);
int rotate_time(const char *text, uint32_t *seconds);
int rotate_count(const char *text, uint32_t *count);
/* Returns NULL, or an error text. Parameters: -w; whether -C or -G was given, and -W. */
const char *rotate_wrong(const char *write, bool begins, bool counts);

#endif
