/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Columns: the tables of one capture file, as Parquet files:
 * FOLDER/TABLE/day=YYYY-MM-DD/STEM.parquet. The day (UTC) is that in which the capture file was
 * written last (common/file_time.h). A table without rows has no file.
 */
#ifndef KEEP_COLUMNS_COLUMNS_H
#define KEEP_COLUMNS_COLUMNS_H

#include <sys/stat.h>

#include "keep/place/day_name.h"
#include "keep/place/place.h"
#include "row.h"
#include "transmissions.h"

enum columns_table {
	COLUMNS_FRAMES,
	COLUMNS_TRANSMISSIONS,
	COLUMNS_RECEPTIONS,
	COLUMNS_EVENTS,
	COLUMNS_COVERAGE,
	COLUMNS_TABLES
};

/* Names of the tables' folders, then NULL. */
extern const char *const columns_names[COLUMNS_TABLES + 1];

struct columns {
	int folder; /* of all tables; -1: no columns are made */
	const char *stem;
	char file[NAME_MAX + 1]; /* the capture file's name in the rows */
	char day[DAY_NAME];
	uint64_t trace;	     /* a unified trace's number; 0: not known */
	uint64_t bad_events; /* malformed lines: they have no row */
	struct columns_of {
		bool begun;
		int day; /* the folder's descriptor; -1 */
		struct table table;
		struct place place;
	} of[COLUMNS_TABLES];
};

/* `file`: the capture file's state. */
void columns_begin(struct columns *c, int folder, const char *stem, const struct stat *file);
/* Each adds rows. Without a folder, they do nothing. All return 0 or -errno. */
int columns_frame(struct columns *c, const struct row *r);
int columns_transmission(struct columns *c, const struct row *r, const struct trace_receptions *of,
			 const char *(*sensor)(void *context, uint16_t id), void *context);
int columns_event(struct columns *c, const char *line, size_t len);
int columns_statistics(struct columns *c, const struct section_interface *i,
		       const struct pcapng_block *b);
/* Writes all to the disk. */
int columns_finish(struct columns *c, const struct stat *file);
/* Gives the files their names. */
int columns_put(struct columns *c);
/* Removes what has no name yet. */
void columns_end(struct columns *c);

#endif
