/* SPDX-License-Identifier: GPL-2.0 */
/* Packs values of equal width, least significant bit first. */
#ifndef KEEP_PARQUET_PACK_H
#define KEEP_PARQUET_PACK_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

struct pack {
	uint8_t *to; /* room for 4 bytes behind the last value */
	uint64_t bits;
	int count;
};

/* `v` is below 2^width; width 0 to 32. */
static inline void pack_put(struct pack *p, uint32_t v, int width)
{
	uint32_t low;

	p->bits |= (uint64_t)v << p->count;
	p->count += width;
	if (p->count < 32)
		return;
	low = htole32((uint32_t)p->bits);
	memcpy(p->to, &low, 4);
	p->to += 4;
	p->bits >>= 32;
	p->count -= 32;
}

/* Returns the end of the values, whose bits fill whole bytes. */
static inline uint8_t *pack_end(const struct pack *p)
{
	uint32_t low = htole32((uint32_t)p->bits);

	memcpy(p->to, &low, 4);
	return p->to + p->count / 8;
}

#endif
