/* SPDX-License-Identifier: GPL-2.0 */
/* Stats' clocks: reads the table of clocks that stands beside a trace (clocks_tsv.h), for the
 * busiest sensors. In: an untrusted file. */
#ifndef MERGE_OUTPUT_STATS_CLOCKS_H
#define MERGE_OUTPUT_STATS_CLOCKS_H

#include "stats.h"

#define STATS_EVENTS 1000 /* more are counted only */

struct stats_clock_point {
	bool known;
	double offset_ns, rate_ppb, sigma_ns, jitter_ns;
	uint32_t references, outliers;
};

struct stats_event {
	int64_t at_ns;
	uint32_t sensor; /* index */
	char what[16];
};

struct stats_clocks {
	const struct stats *stats;
	struct stats_clock_point *points; /* as those of struct stats */
	struct stats_event events[STATS_EVENTS];
	uint32_t event_count;
	uint64_t events_left_out, lines, malformed, unknown; /* lines of sensors without a row */
	uint16_t *by_name;				     /* hash table of index + 1 */
};

/* Reads `path`. Returns 0; -ENOENT if there is none; or -errno after a line. */
int stats_clocks_read(struct stats_clocks *c, const struct stats *s, const char *path);
void stats_clocks_free(struct stats_clocks *c);

#endif
