/* SPDX-License-Identifier: GPL-2.0 */
/* Split-block bloom filters (BloomFilter.md), of XXH64 with seed 0 of PLAIN values. */
#ifndef KEEP_PARQUET_BLOOM_H
#define KEEP_PARQUET_BLOOM_H

#include "bytes.h"

struct bloom {
	uint8_t *bits; /* NULL: bloom_add() does nothing */
	uint32_t blocks;
};

/* Appends a filter for `distinct` values, its head first; one in 100 other values passes it, or
 * fewer. It is filled before `out` grows again. */
struct bloom bloom_put(struct bytes *out, uint32_t distinct);
void bloom_add(struct bloom *b, const void *value, size_t len) __attribute__((nonnull));

#endif
