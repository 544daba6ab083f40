// SPDX-License-Identifier: GPL-2.0
#include "distinct.h"

#include <string.h>

#define SLOT_BITS 14
#define HASHED_MAX 4096

/* Small ranges: the table has an entry for each possible value. */
static uint32_t near(struct distinct *d, const int64_t *x, uint32_t n, int64_t min, uint32_t range,
		     uint32_t most, uint32_t *indexes)
{
	uint32_t count = 0;

	memset(d->table, 0, (range + 1) * sizeof(*d->table));
	for (uint32_t i = 0; i < n; i++)
		d->table[(uint64_t)x[i] - (uint64_t)min] = 1;
	for (uint32_t i = 0; i <= range; i++) {
		if (!d->table[i])
			continue;
		d->table[i] = count;
		d->values[count++] = (int64_t)((uint64_t)min + i);
	}
	for (uint32_t i = 0; i < n && count <= most; i++)
		indexes[i] = d->table[(uint64_t)x[i] - (uint64_t)min];
	return count <= most ? count : 0;
}

/* Large ranges: the table is a hash table of indexes plus 1. */
static uint32_t far(struct distinct *d, const int64_t *x, uint32_t n, uint32_t most,
		    uint32_t *indexes)
{
	uint32_t count = 0, mask = (1U << SLOT_BITS) - 1;

	if (most > HASHED_MAX)
		most = HASHED_MAX;
	memset(d->table, 0, sizeof(*d->table) * (mask + 1));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = (uint32_t)((uint64_t)x[i] * 0x9e3779b97f4a7c15 >> (64 - SLOT_BITS));

		while (d->table[slot] && d->values[d->table[slot] - 1] != x[i])
			slot = (slot + 1) & mask;
		if (!d->table[slot]) {
			if (count == most)
				return 0;
			d->values[count++] = x[i];
			d->table[slot] = count;
		}
		indexes[i] = d->table[slot] - 1;
	}
	return count;
}

uint32_t distinct_find(struct distinct *d, const int64_t *x, uint32_t n, int64_t min, int64_t max,
		       uint32_t most, uint32_t *indexes)
{
	uint64_t range = (uint64_t)max - (uint64_t)min;

	if (range < DISTINCT_RANGE)
		return near(d, x, n, min, (uint32_t)range, most, indexes);
	return far(d, x, n, most, indexes);
}
