/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reassemble pool: the memory for all sensors' combos until they are taken (reassemble.h). Each
 * combo has a slot in one of two lists, oldest change first: combos that are their sensor's next,
 * and combos ahead. If memory is short, a combo ahead is evicted, for these reasons in this order:
 *
 *     1. it got no piece for REASSEMBLE_POOL_STALE_NS
 *     2. its sensor has more of the pool than the requesting sensor would then have
 *     3. the requesting sensor cannot take its next combo otherwise
 *
 * So n sensors that all take as much as possible get 1/n of the pool each, to within
 * REASSEMBLE_POOL_CLASS bytes. A combo counts with its total length from its first piece on. A
 * sensor's last combos are evicted first, as they are needed last. Lists of sensors by share size
 * find the sensor with the largest share.
 */
#ifndef COLLECTOR_COMBO_REASSEMBLE_POOL_H
#define COLLECTOR_COMBO_REASSEMBLE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"

#define REASSEMBLE_SLOTS PIECE_COMBOS_AHEAD /* the next combo, and those after it */

#define REASSEMBLE_POOL_LIMIT_DEFAULT (64 * 1024 * 1024)
/* A combo without new pieces for this time may be evicted: its sensor is gone, or will send it
 * again. */
#define REASSEMBLE_POOL_STALE_NS 2000000000ULL
#define REASSEMBLE_POOL_WORD_BITS 64 /* of `have` */
#define REASSEMBLE_POOL_CLASS 32768  /* bytes; sensors in one class count as equal */
#define REASSEMBLE_POOL_CLASSES 72   /* the last one has all larger shares */

/* A sensor's combos that are not taken yet. If zeroed, it expects combo 0 of a run. */
struct reassembly {
	uint64_t next;			     /* count of the combo due next; `taken` in the ACK */
	uint64_t floor;			     /* the sensor has no combos below it */
	unsigned int held;		     /* slots in use */
	unsigned int whole;		     /* of these, with a complete combo */
	bool waits;			     /* for the disk: its new pieces evict nothing */
	struct reassemble_pool_share *share; /* has its slots; NULL: none in use */
};

struct reassemble_pool_slot {
	struct reassembly *owner;
	struct reassemble_pool_slot *older, *newer; /* in the pool's list */
	uint64_t count;				    /* number of the combo in its run */
	uint64_t touched_ns;
	uint32_t total;	     /* bytes of the combo */
	uint32_t units, got; /* PIECE_UNIT bytes each, the last one may be shorter */
	size_t size;	     /* bytes of the whole allocation */
	bool due;	     /* in the list of due combos */
	uint8_t *data;	     /* after `have` */
	uint64_t have[];     /* a bit per unit */
};

/* Slots, in the order of their last new piece. */
struct reassemble_pool_list {
	struct reassemble_pool_slot *oldest, *newest;
};

/* A sensor's share of the pool. */
struct reassemble_pool_share {
	struct reassembly *owner;
	struct reassemble_pool_share *next, **link;		/* in the list of its class */
	size_t size;						/* bytes, including this struct */
	struct reassemble_pool_slot *slots[PIECE_COMBOS_AHEAD]; /* by count */
};

/* The pool. Zeroed, with its limit set, it is ready. */
struct reassemble_pool {
	size_t used, limit; /* bytes */
	struct reassemble_pool_list due, ahead;
	struct reassemble_pool_share
		*classes[REASSEMBLE_POOL_CLASSES]; /* by size / REASSEMBLE_POOL_CLASS */
	bool waits;				   /* all wait for the disk: nothing is evicted */
	uint64_t evicted, refused;		   /* combos; pieces */
};

/* Returns the slot of a sensor's combo, NULL: none. */
struct reassemble_pool_slot *reassemble_pool_find(const struct reassembly *r, uint64_t count);
/* Makes the slot of a combo of `total` bytes that has none, at most REASSEMBLE_SLOTS - 1 after the
 * next one. Returns NULL without room. */
struct reassemble_pool_slot *reassemble_pool_begin(struct reassembly *r,
						   struct reassemble_pool *pool, uint64_t count,
						   uint32_t total, uint64_t now_ns);
/* Notes that a slot got a piece. */
void reassemble_pool_touch(struct reassemble_pool *pool, struct reassemble_pool_slot *s,
			   uint64_t now_ns);
/* Moves a slot to the due list, as its combo is now its sensor's next. */
void reassemble_pool_due(struct reassemble_pool *pool, struct reassemble_pool_slot *s);
void reassemble_pool_free(struct reassemble_pool *pool, struct reassemble_pool_slot *s);

/* Whether the combo is complete. `s` may be NULL. */
static inline bool reassemble_pool_whole(const struct reassemble_pool_slot *s)
{
	return s && s->got == s->units;
}

#endif
