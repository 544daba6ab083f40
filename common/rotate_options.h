/* SPDX-License-Identifier: GPL-2.0 */
/* The options of a series of files: rows for the tables of saluki-collector and of `saluki
 * capture`, which passes them to its collector. */
#ifndef COMMON_ROTATE_OPTIONS_H
#define COMMON_ROTATE_OPTIONS_H

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

#endif
