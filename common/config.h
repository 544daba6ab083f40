/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Config files (--config): the options of a command's table (options.h), one per line, as
 * "name = value", or "name" alone for an option without a value. They come in the file's order,
 * before those of the command line. '#' begins a comment. Always holds: log lines about an option
 * of the file begin with FILE:LINE.
 */
#ifndef COMMON_CONFIG_H
#define COMMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

#define CONFIG_OPTION "config"

#define CONFIG_DEF(id)                                                                             \
	{                                                                                          \
		id, CONFIG_OPTION, "FILE", "read options from this file first"                     \
	}

struct config {
	const char *path;
	char *text, *at, *end; /* text: NULL: no file */
	unsigned int line;
	bool private; /* only its owner can read it */
};

/* Reads the file into memory, where values stay until config_close(). Returns 0, or -errno after a
 * line. */
int config_open(struct config *c, const char *path);
/* Returns the next option's id with its value in optarg, -1 after the last one, '?' after a line.
 * `secret`: options that only a private file may have, or NULL. If `some`, other options are
 * skipped, right or wrong. */
int config_next(struct config *c, const struct option_def *defs, const struct option_def *secret,
		bool some);
/* Wipes the file's text. */
void config_close(struct config *c);

/* A command line that may have --config. */
struct config_options {
	const struct option_def *defs, *secret; /* secret: NULL, or of the file alone */
	const struct option_foreign *foreign;	/* as in options.h */
	struct config file;
};

/* Finds --config, and reads its file. Returns 0, or -EINVAL after a line. */
int config_begin(struct config_options *o, int argc, char **argv);
/* As options_next_foreign(), with the file's options first. Values of the file stay in memory. */
int config_option(struct config_options *o, int argc, char **argv);

#endif
