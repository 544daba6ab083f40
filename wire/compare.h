/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compare: finds which of eight bytes differ, without a branch for each byte.
 */
#ifndef WIRE_COMPARE_H
#define WIRE_COMPARE_H

#include <stdint.h>

#include "bytes.h"

/* A word's bytes as little-endian, so that the first one is the lowest. */
static inline uint64_t first_lowest(uint64_t w)
{
	const union {
		uint16_t v;
		uint8_t low;
	} order = { 1 };

	return order.low ? w : __builtin_bswap64(w);
}

/* Returns 1 in each byte of a word that is not zero. */
static inline uint64_t nonzero_bytes(uint64_t w)
{
	const uint64_t low = 0x7f7f7f7f7f7f7f7f;

	return (((w & low) + low) | w) >> 7 & 0x0101010101010101;
}

/* Returns the lowest bit of each byte, the lowest byte's first. */
static inline uint32_t gather_bits(uint64_t w)
{
	return w * 0x0102040810204080 >> 56;
}

static inline uint32_t sum_bytes(uint64_t w)
{
	return w * 0x0101010101010101 >> 56;
}

/* Returns a word whose bytes are not zero where those of `a` and `b` differ, the first one the
 * lowest. */
static inline uint64_t differ_8(const uint8_t *a, const uint8_t *b)
{
	return first_lowest(load_word(a) ^ load_word(b));
}

/* Returns one bit for each byte that is the same in both. */
static inline uint32_t same_8(const uint8_t *a, const uint8_t *b)
{
	uint64_t d = differ_8(a, b);

	return d ? gather_bits(nonzero_bytes(d)) ^ 0xff : 0xff;
}

#endif
