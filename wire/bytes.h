/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes on the wire: integers are stored and loaded one byte at a time, most significant first
 * (network order) or as LEB128 varints. Nothing on the wire is ever a struct copy.
 */
#ifndef WIRE_BYTES_H
#define WIRE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_MAX 10 /* bytes of the longest 64-bit varint */

static inline void store_be(uint8_t *p, uint64_t v, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--, v >>= 8)
		p[i] = (uint8_t)v;
}

static inline uint64_t load_be(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

/* Little-endian, as radiotap and 802.11 have it. Spelled out: compilers make one load of it. */
static inline uint32_t load_le32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t load_le64(const uint8_t *p)
{
	return load_le32(p) | (uint64_t)load_le32(p + 4) << 32;
}

static inline void store_le(uint8_t *p, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++, v >>= 8)
		p[i] = (uint8_t)v;
}

/* Returns the bytes written to `p`, at most VARINT_MAX. */
static inline size_t store_varint(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

/* Reads a varint at `*p`, not beyond `end`, and moves `*p` past it. Returns 0, or -1 if it is
 * truncated or longer than 64 bits. */
static inline int load_varint(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	uint64_t out = 0;

	for (int shift = 0; shift < 64 && *p < end; shift += 7) {
		uint8_t b = *(*p)++;

		if (shift == 63 && b > 1)
			return -1;
		out |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*v = out;
			return 0;
		}
	}
	return -1;
}

/* Four or eight bytes in this machine's order: for comparing and hashing, never for the wire. */
static inline uint32_t load_32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static inline uint64_t load_word(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	return w;
}

/* Signed differences as small unsigned numbers: 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

#endif
