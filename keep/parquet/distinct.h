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
 * Numbers the distinct values of x, all from `min` to `max`, signed or not: `indexes` are by row
 * into d->values. Returns how many there are; 0 if more than `most`, or more than are looked for:
 * of values that are far apart, 4096.
 */
uint32_t distinct_find(struct distinct *d, const int64_t *x, uint32_t n, int64_t min, int64_t max,
		       uint32_t most, uint32_t *indexes);

#endif
