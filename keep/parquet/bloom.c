// SPDX-License-Identifier: GPL-2.0
#include "bloom.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "thrift.h"

#define BLOCK 32	      /* bytes */
#define VALUES_A_BLOCK 24     /* 10.7 bits a value: 0.6 % of others pass a full filter */
#define BLOCKS_MAX (1U << 19) /* 16 MiB */

struct bloom bloom_put(struct bytes *out, uint32_t distinct)
{
	struct thrift t = { out, 0 };
	struct bloom b = { NULL, 1 };

	while (b.blocks < BLOCKS_MAX && b.blocks * VALUES_A_BLOCK < distinct)
		b.blocks *= 2;
	thrift_int(&t, 1, THRIFT_I32, (int64_t)b.blocks * BLOCK);
	for (int id = 2; id <= 4;
	     id++) { /* the first of each union: blocks, XXH64, not compressed */
		struct thrift one = thrift_struct(&t, id);

		thrift_empty(&one, 1);
		thrift_stop(&one);
	}
	thrift_stop(&t);
	b.bits = bytes_reserve(out, (size_t)b.blocks * BLOCK);
	if (b.bits) {
		memset(b.bits, 0, (size_t)b.blocks * BLOCK);
		out->len += (size_t)b.blocks * BLOCK;
	}
	return b;
}

void bloom_add(struct bloom *b, const void *value, size_t len)
{
	static const uint32_t salt[8] = { 0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
					  0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U };
	uint64_t hash;
	uint8_t *words;

	if (!b->bits)
		return;
	hash = XXH64(value, len, 0);
	words = b->bits + ((hash >> 32) * b->blocks >> 32) * BLOCK;
	for (int i = 0; i < 8; i++) {
		uint32_t bit = (uint32_t)hash * salt[i] >> 27;

		words[i * 4 + bit / 8] |= (uint8_t)(1U << bit % 8);
	}
}
