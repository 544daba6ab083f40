/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clocks table: what is known of all clocks over time (saluki-files(5)). A line a clock and second,
 * and one for each event: join, step, part, part_join. Columns are separated by tabs, and named in
 * the first line.
 */
#ifndef MERGE_OUTPUT_CLOCKS_TSV_H
#define MERGE_OUTPUT_CLOCKS_TSV_H

#include <stdio.h>

#include "merge/input/sensors.h"

#define CLOCKS_TSV_EVENTS 256

struct clocks_event {
	uint32_t domain;
	uint64_t serial; /* the domain's */
	const char *what;
	int64_t unified_ns; /* the clock's newest reception */
};

struct clocks_tsv {
	FILE *out; /* NULL: none is written */
	char *name;
	const struct sensors *sensors;
	const struct merge *merge;
	int64_t second;				       /* of the last lines */
	struct clocks_event events[CLOCKS_TSV_EVENTS]; /* since the last transmission */
	unsigned int event_count;
};

/* Begins the table PREFIX.clocks.tsv. Returns 0, or -errno after a line. */
int clocks_tsv_open(struct clocks_tsv *c, const char *prefix, const struct sensors *s,
		    struct merge *m, bool (*forbidden)(void *context, int fd, const char *name),
		    void *context);
/* Time has come here. */
void clocks_tsv_tick(struct clocks_tsv *c, int64_t unified_ns);
/* Returns 0, or -errno after a line. */
int clocks_tsv_close(struct clocks_tsv *c);

#endif
