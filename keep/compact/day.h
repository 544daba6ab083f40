/* SPDX-License-Identifier: GPL-2.0 */
/* Day: a table's Parquet files of one day that saluki-keep wrote. */
#ifndef KEEP_COMPACT_DAY_H
#define KEEP_COMPACT_DAY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "seen.h"

#define DAY_SOURCES "saluki.sources" /* key of a part's sources */
#define DAY_PROGRAM "saluki-keep "   /* created_by begins so */
#define DAY_LINE_MAX (NAME_MAX + 64) /* bytes of a source's line */

struct day_file {
	char *name;
	char *sources; /* a part: a line for each source; else NULL */
	struct stat st;
	int64_t rows;
	uint64_t schema; /* equal in files that can be joined */
	bool is_chosen;	 /* to be joined */
};

struct day {
	struct day_file *list; /* in the order of their captures' names */
	unsigned int count, room;
	unsigned int last_part; /* highest number of a part; 0: none */
};

/* Reads `folder`, whose path is used in messages, and removes unfinished parts. Malformed files are
 * left out, and noted in `left` after a line. So are files of other programs, without a line.
 * Returns 0 or -errno; day_free() follows in both cases. */
int day_read(struct day *d, int folder, const char *path, struct seen *left);
void day_free(struct day *d);

/* A source's line: time and rows tell whether a file of this name is the same one. */
void day_line(const struct day_file *f, char line[DAY_LINE_MAX]);
/* Whether another file of the day has this one's rows. */
bool day_has_rows_of(const struct day *d, const struct day_file *f);

#endif
