/* SPDX-License-Identifier: GPL-2.0 */
/* The options of saluki-keep's service. Strings point into argv. */
#ifndef KEEP_OPTIONS_H
#define KEEP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/options.h"
#include "common/space.h"

struct keep_options {
	const char *folder;
	bool compress;
	const char *columns;	 /* a folder; NULL: none */
	uint64_t columns_age_us; /* 0: none */
	uint64_t max_age_us;	 /* 0: none */
	uint64_t max_bytes;	 /* 0: none */
	bool has_min_free;
	struct space min_free;
	bool once, finished;
	bool install; /* only link into Wireshark's folder; `folder` is not set */
	enum log_level log_level;
};

/* Returns the command with this name, or NULL. */
const struct command_def *options_command(const char *name);
/* Returns 0, -1 if all is done (--help), or an exit status after a line. */
int options_parse(struct keep_options *o, int argc, char **argv);

#endif
