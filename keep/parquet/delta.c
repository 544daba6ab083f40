// SPDX-License-Identifier: GPL-2.0
#include "delta.h"

#include "pack.h"
#include "thrift.h"
#include "wire/bytes.h"

#define BLOCK 128
#define MINIBLOCKS 4
#define MINIBLOCK (BLOCK / MINIBLOCKS)

static uint8_t *pack(uint8_t *to, const uint64_t *v, int width)
{
	struct pack p = { to, 0, 0 };

	for (int i = 0; i < MINIBLOCK; i++) {
		pack_put(&p, (uint32_t)v[i], width < 32 ? width : 32);
		if (width > 32)
			pack_put(&p, (uint32_t)(v[i] >> 32), width - 32);
	}
	return pack_end(&p);
}

/* Differences to the values before x[0], ... x[n - 1]. They may wrap, and readers let them. */
static void put_block(struct bytes *out, const int64_t *x, uint32_t n)
{
	uint8_t *widths, *to = bytes_reserve(out, VARINT_MAX + MINIBLOCKS + BLOCK * 8 + 4);
	uint64_t v[BLOCK] = { 0 };
	int64_t least = INT64_MAX;

	if (!to)
		return;
	for (uint32_t i = 0; i < n; i++) {
		v[i] = (uint64_t)x[i] - (uint64_t)x[(int64_t)i - 1];
		least = (int64_t)v[i] < least ? (int64_t)v[i] : least;
	}
	to += store_varint(to, zigzag(least));
	widths = to;
	to += MINIBLOCKS;
	for (uint32_t begin = 0; begin < BLOCK; begin += MINIBLOCK) {
		uint64_t any = 0;
		int width;

		for (uint32_t i = begin; i < begin + MINIBLOCK && i < n; i++)
			any |= v[i] -= (uint64_t)least;
		width = any ? 64 - __builtin_clzll(any) : 0;
		*widths++ = (uint8_t)width;
		to = pack(to, v + begin, width);
	}
	out->len = (size_t)(to - out->data);
}

void delta_put(struct bytes *out, const int64_t *x, uint32_t n)
{
	thrift_varint(out, BLOCK);
	thrift_varint(out, MINIBLOCKS);
	thrift_varint(out, n);
	thrift_varint(out, n ? zigzag(x[0]) : 0);
	for (uint32_t i = 1; i < n; i += BLOCK)
		put_block(out, x + i, n - i < BLOCK ? n - i : BLOCK);
}
