/* SPDX-License-Identifier: GPL-2.0 */
/* The options of saluki-keep find. Strings point into argv. */
#ifndef KEEP_FIND_FIND_OPTIONS_H
#define KEEP_FIND_FIND_OPTIONS_H

#include "common/options.h"
#include "query.h"

struct find_options {
	const char *folder;
	const char *write;	/* NULL: counts */
	const char *pseudonyms; /* the key file; NULL: real addresses */
	const char *columns;	/* the folder for tables of what is written; NULL: none */
	uint64_t most;		/* frames; 0: all */
	struct query query;
	enum log_level log_level;
};

extern const struct option_def find_defs[];

/* Returns 0, -1 if all is done (--help), or an exit status after a line. */
int find_options_parse(struct find_options *o, int argc, char **argv);
void find_options_free(struct find_options *o);

#endif
