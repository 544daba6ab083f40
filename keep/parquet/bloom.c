// SPDX-License-Identifier: GPL-2.0
/* Split-block bloom filters (BloomFilter.md), of XXH64 with seed 0 of PLAIN values. One in 100
 * other values passes a filter, or fewer. */
#include "internal.h"
#include "wire/bytes.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

#define BLOCK 32	      /* bytes */
#define VALUES_A_BLOCK 24     /* 10.7 bits a value: 0.6 % of others pass a full filter */
#define BLOCKS_MAX (1U << 19) /* 16 MiB */

static void add(uint8_t *block, uint32_t hash)
{
	static const uint32_t salt[8] = { 0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
					  0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U };

	for (int i = 0; i < 8; i++) {
		uint32_t bit = hash * salt[i] >> 27;

		block[i * 4 + bit / 8] |= (uint8_t)(1U << bit % 8);
	}
}

void bloom_put(struct bytes *out, const struct bytes *texts, uint32_t count)
{
	const uint8_t *p = texts->data;
	struct thrift t = { out, 0 }, one;
	uint32_t blocks = 1;
	uint8_t *bits;

	while (blocks < BLOCKS_MAX && blocks * VALUES_A_BLOCK < count)
		blocks *= 2;
	thrift_int(&t, 1, THRIFT_I32, (int64_t)blocks * BLOCK);
	for (int id = 2; id <= 4; id++) { /* each union's first: blocks, XXH64, not compressed */
		one = thrift_struct(&t, id);
		thrift_empty(&one, 1);
		thrift_stop(&one);
	}
	thrift_stop(&t);
	bits = bytes_reserve(out, (size_t)blocks * BLOCK);
	if (!bits)
		return;
	memset(bits, 0, (size_t)blocks * BLOCK);
	for (uint32_t i = 0; i < count; i++, p += 4 + load_le32(p)) {
		uint64_t hash = XXH64(p + 4, load_le32(p), 0);

		add(bits + ((hash >> 32) * blocks >> 32) * BLOCK, (uint32_t)hash);
	}
	out->len += (size_t)blocks * BLOCK;
}
