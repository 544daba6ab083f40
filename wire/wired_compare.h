/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds which bytes of two heads differ. The sensor does this for each Ethernet frame. Machines
 * with SSE2 compare 16 bytes at a time, others eight. In: two heads of one length. Out: a bit for
 * each byte. Always holds: no byte behind the heads is read, because the last bytes that are
 * compared overlap those before them.
 */
#ifndef WIRE_WIRED_COMPARE_H
#define WIRE_WIRED_COMPARE_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "compare.h"
#include "wired_expect.h"

static inline uint32_t same_16(const uint8_t *a, const uint8_t *b)
{
#ifdef __SSE2__
	__m128i x = _mm_loadu_si128((const __m128i *)a), y = _mm_loadu_si128((const __m128i *)b);

	return _mm_movemask_epi8(_mm_cmpeq_epi8(x, y));
#else
	return same_8(a, b) | same_8(a + 8, b + 8) << 8;
#endif
}

/* Returns one bit for each byte that differs. */
static inline uint32_t compare_32(const uint8_t *a, const uint8_t *b)
{
	return ~(same_16(a, b) | same_16(a + 16, b + 16) << 16);
}

/* Compares less than 32 bytes. */
static inline uint32_t compare_few(const uint8_t *a, const uint8_t *b, uint32_t len)
{
	uint32_t bits = 0;

	if (len >= 16)
		return (same_16(a, b) ^ 0xffff) | (same_16(a + len - 16, b + len - 16) ^ 0xffff)
							  << (len - 16);
	for (uint32_t i = 0; i < len; i++)
		bits |= (uint32_t)(a[i] != b[i]) << i;
	return bits;
}

static inline __attribute__((always_inline)) struct wired_bits
wired_compare(const uint8_t *a, const uint8_t *b, uint32_t len)
{
	struct wired_bits bits = { 0, 0 };
	uint32_t last;

	if (len < 32) {
		bits.low = compare_few(a, b, len);
		return bits;
	}
	bits.low = compare_32(a, b);
	last = compare_32(a + len - 32, b + len - 32);
	if (len <= 64) {
		bits.low |= (uint64_t)last << (len - 32);
	} else {
		bits.low |= (uint64_t)compare_32(a + 32, b + 32) << 32;
		bits.high = last >> (WIRED_HEAD_MAX - len);
	}
	return bits;
}

/* Copies at most WIRED_HEAD_MAX bytes. For a memcpy of an unknown length up to this, compilers use
 * a string instruction, which is slow to start. */
static inline void wired_copy(uint8_t *to, const uint8_t *from, uint32_t len)
{
	if (len >= 32) {
		memcpy(to, from, 32);
		if (len > 64)
			memcpy(to + 32, from + 32, 32);
		memcpy(to + len - 32, from + len - 32, 32);
	} else if (len >= 16) {
		memcpy(to, from, 16);
		memcpy(to + len - 16, from + len - 16, 16);
	} else {
		for (uint32_t i = 0; i < len; i++)
			to[i] = from[i];
	}
}

/* Returns how many bits are set. Compilers call a function for this. */
static inline uint32_t wired_count(const struct wired_bits *b)
{
	const uint64_t twos = 0x3333333333333333, fours = 0x0f0f0f0f0f0f0f0f;
	uint64_t low = b->low - (b->low >> 1 & 0x5555555555555555);
	uint64_t high = b->high - (b->high >> 1 & 0x55555555);

	low = (low & twos) + (low >> 2 & twos) + (high & twos) + (high >> 2 & twos);
	low = (low & fours) + (low >> 4 & fours);
	return sum_bytes(low);
}

/* Returns one bit for each group of eight bits that are not all zero. */
static inline uint32_t wired_groups(const struct wired_bits *b)
{
	return gather_bits(nonzero_bytes(b->low)) | gather_bits(nonzero_bytes(b->high)) << 8;
}

static inline uint32_t wired_count_groups(const struct wired_bits *b)
{
	return sum_bytes(nonzero_bytes(b->low) + nonzero_bytes(b->high));
}

#endif
