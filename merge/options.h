/* SPDX-License-Identifier: GPL-2.0 */
/* The options of saluki-merge. Strings point into argv. */
#ifndef MERGE_OPTIONS_H
#define MERGE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/options.h"
#include "model/slice.h"

struct merge_options {
	const char *write; /* a file, a folder, or "-" */
	uint64_t rotate_bytes;
	bool all;
	struct slice slice;
	bool pipe;    /* read standard input */
	char **paths; /* else files and folders */
	int path_count;
	enum log_level log_level;
};

/* Returns the command with this name, or NULL. */
const struct command_def *options_command(const char *name);
/* Returns 0, -1 if all is done (--help), or an exit status after a line. */
int options_parse(struct merge_options *o, int argc, char **argv);
void options_free(struct merge_options *o);

#endif
