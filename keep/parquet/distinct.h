/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the distinct values among integers, for a dictionary. */
#ifndef KEEP_PARQUET_DISTINCT_H
#define KEEP_PARQUET_DISTINCT_H

#include <stdint.h>

#define DISTINCT_RANGE (1U << 16)

struct distinct {
	int64_t values[DISTINCT_RANGE];
	uint32_t table[DISTINCT_RANGE];
};

/*
 * Puts the distinct values of x into d->values, and each row's index there into `indexes`. All
 * values are from `min` to `max`, signed or unsigned. Returns the number of distinct values, or 0
 * if there are more than `most`. If the range is DISTINCT_RANGE or more, it gives up at 4096
 * values.
 */
uint32_t distinct_find(struct distinct *d, const int64_t *x, uint32_t n, int64_t min, int64_t max,
		       uint32_t most, uint32_t *indexes);

#endif
