/* SPDX-License-Identifier: GPL-2.0 */
/* Parquet's RLE/bit-packing hybrid (Encodings.md): runs of one value, and values packed into
 * groups of 8, least significant bit first. */
#ifndef KEEP_PARQUET_HYBRID_H
#define KEEP_PARQUET_HYBRID_H

#include "bytes.h"

/* Appends `n` values below 2^width; width 1 to 32. `v` has room for 7 more, which it sets to 0. */
void hybrid_put(struct bytes *out, uint32_t *v, size_t n, int width);

/* Appends one run. */
void hybrid_put_run(struct bytes *out, uint32_t value, size_t n, int width);

/* Appends bits: 1 for each byte that is not 0, as one packed run without its head. */
void hybrid_put_bits(struct bytes *out, const uint8_t *flags, size_t n);

/* Bits that a value needs; 1 at least. */
static inline int hybrid_width(uint64_t v)
{
	return v ? 64 - __builtin_clzll(v) : 1;
}

#endif
