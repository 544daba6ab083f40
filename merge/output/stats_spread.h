/* SPDX-License-Identifier: GPL-2.0 */
/* Spread: counts durations in buckets, so that percentiles need no more memory with more of them. A
 * bucket is at most a quarter as wide as its durations are long. */
#ifndef MERGE_OUTPUT_STATS_SPREAD_H
#define MERGE_OUTPUT_STATS_SPREAD_H

#include <stdint.h>

#define SPREAD_SIDE 96 /* buckets of one sign */

struct spread {
	uint64_t total;
	uint32_t below[SPREAD_SIDE], above[SPREAD_SIDE]; /* negative ones by their size; others */
};

void spread_add(struct spread *s, int64_t ns);
/* Returns the duration that `share` (0 to 1) of all durations are below, in ns; 0 without any. */
double spread_quantile(const struct spread *s, double share);
/* The same for the durations without their signs. */
double spread_size_quantile(const struct spread *s, double share);

#endif
