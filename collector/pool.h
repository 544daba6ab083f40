/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pool: the memory of all sensors' combos that are not taken yet (reassemble.h), and who gives way
 * where it is short: first the combos that are needed last. Each has a slot, in one of two lists
 * by who was added to longest ago: those that are due next of their sensor, and those ahead.
 */
#ifndef COLLECTOR_POOL_H
#define COLLECTOR_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_LIMIT_DEFAULT (64 * 1024 * 1024)
/* What nobody has added to for so long gives way: its sensor is gone, or sends it again. */
#define POOL_STALE_NS 2000000000ULL
#define POOL_WORD_BITS 64 /* of `have` */

struct reassembly;

struct pool_slot {
	struct reassembly *owner;
	struct pool_slot *older, *newer; /* in the pool's list */
	uint64_t count;			 /* of the combo */
	uint64_t touched_ns;
	uint32_t total;	     /* bytes of the combo */
	uint32_t units, got; /* PIECE_UNIT bytes each, the last one perhaps less */
	size_t size;	     /* of all this */
	bool due;	     /* in the list of those that are due next */
	uint8_t *data;	     /* behind `have` */
	uint64_t have[];     /* a bit a unit */
};

/* Slots, the one that was added to longest ago first. */
struct pool_list {
	struct pool_slot *oldest, *newest;
};

/* Zeroed but for its limit, it is ready. */
struct pool {
	size_t used, limit; /* bytes */
	struct pool_list due, ahead;
	uint64_t evicted, refused; /* combos; pieces */
};

/* The slot of a sensor's combo, NULL: it has none. */
struct pool_slot *pool_find(const struct reassembly *r, uint64_t count);
/* Makes one for a combo of `total` bytes, at most REASSEMBLE_SLOTS - 1 above the one due next, that
 * has none. Returns NULL where there is no room. */
struct pool_slot *pool_begin(struct reassembly *r, struct pool *pool, uint64_t count,
			     uint32_t total, uint64_t now_ns);
/* It was added to. */
void pool_touch(struct pool *pool, struct pool_slot *s, uint64_t now_ns);
/* It was ahead, and is due next now. */
void pool_due(struct pool *pool, struct pool_slot *s);
void pool_free(struct pool *pool, struct pool_slot *s);

/* Whether nothing is missing of it. Takes NULL. */
static inline bool pool_whole(const struct pool_slot *s)
{
	return s && s->got == s->units;
}

#endif
