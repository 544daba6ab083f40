/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reassemble pool: the memory of all sensors' combos that are not taken yet (reassemble.h). Each
 * combo has a slot, in one of two lists by who was added to longest ago: those that are due next of
 * their sensor, and those ahead. When memory is short, a combo ahead gives way in this order:
 *
 *     1. it was not added to for REASSEMBLE_POOL_STALE_NS
 *     2. its sensor has more of the pool than the sensor that needs room would have then
 *     3. the sensor that needs room has no other way to take the combo that is due next
 *
 * So n sensors that all take what they can have 1/n of the pool each, to REASSEMBLE_POOL_CLASS
 * bytes. A combo counts with all of its bytes from its first piece on. The last combos of a sensor
 * go first, since they are needed last. Which sensor has most is known from lists of sensors by
 * what they have.
 */
#ifndef COLLECTOR_COMBO_REASSEMBLE_POOL_H
#define COLLECTOR_COMBO_REASSEMBLE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"

#define REASSEMBLE_SLOTS PIECE_COMBOS_AHEAD /* the one due next, and those above it */

#define REASSEMBLE_POOL_LIMIT_DEFAULT (64 * 1024 * 1024)
/* What nobody has added to for so long gives way: its sensor is gone, or sends it again. */
#define REASSEMBLE_POOL_STALE_NS 2000000000ULL
#define REASSEMBLE_POOL_WORD_BITS 64 /* of `have` */
#define REASSEMBLE_POOL_CLASS 32768  /* bytes; sensors in one class have equally much */
#define REASSEMBLE_POOL_CLASSES 72   /* the last one takes all that is more */

/* A sensor's combos that are not taken yet. Zeroed, it waits for combo 0 of a run. */
struct reassembly {
	uint64_t next;			     /* count of the combo due next: ACK's `taken` */
	uint64_t floor;			     /* below it the sensor has none any more */
	unsigned int held;		     /* slots in use */
	unsigned int whole;		     /* of them, that nothing is missing of */
	bool waits;			     /* for the disk: nothing gives way to what comes */
	struct reassemble_pool_share *share; /* with its slots; NULL: none in use */
};

struct reassemble_pool_slot {
	struct reassembly *owner;
	struct reassemble_pool_slot *older, *newer; /* in the pool's list */
	uint64_t count;				    /* of the combo */
	uint64_t touched_ns;
	uint32_t total;	     /* bytes of the combo */
	uint32_t units, got; /* PIECE_UNIT bytes each, the last one perhaps less */
	size_t size;	     /* of all this */
	bool due;	     /* in the list of those that are due next */
	uint8_t *data;	     /* behind `have` */
	uint64_t have[];     /* a bit a unit */
};

/* Slots, the one that was added to longest ago first. */
struct reassemble_pool_list {
	struct reassemble_pool_slot *oldest, *newest;
};

/* What a sensor has of the pool. */
struct reassemble_pool_share {
	struct reassembly *owner;
	struct reassemble_pool_share *next, **link;		/* in the list of its class */
	size_t size;						/* bytes, with this */
	struct reassemble_pool_slot *slots[PIECE_COMBOS_AHEAD]; /* by count */
};

/* Zeroed but for its limit, it is ready. */
struct reassemble_pool {
	size_t used, limit; /* bytes */
	struct reassemble_pool_list due, ahead;
	struct reassemble_pool_share
		*classes[REASSEMBLE_POOL_CLASSES]; /* by size / REASSEMBLE_POOL_CLASS */
	bool waits;				   /* all for the disk: nothing gives way */
	uint64_t evicted, refused;		   /* combos; pieces */
};

/* The slot of a sensor's combo, NULL: it has none. */
struct reassemble_pool_slot *reassemble_pool_find(const struct reassembly *r, uint64_t count);
/* Makes one for a combo of `total` bytes, at most REASSEMBLE_SLOTS - 1 above the one due next, that
 * has none. Returns NULL where there is no room. */
struct reassemble_pool_slot *reassemble_pool_begin(struct reassembly *r,
						   struct reassemble_pool *pool, uint64_t count,
						   uint32_t total, uint64_t now_ns);
/* It was added to. */
void reassemble_pool_touch(struct reassemble_pool *pool, struct reassemble_pool_slot *s,
			   uint64_t now_ns);
/* It was ahead, and is due next now. */
void reassemble_pool_due(struct reassemble_pool *pool, struct reassemble_pool_slot *s);
void reassemble_pool_free(struct reassemble_pool *pool, struct reassemble_pool_slot *s);

/* Whether nothing is missing of it. Takes NULL. */
static inline bool reassemble_pool_whole(const struct reassemble_pool_slot *s)
{
	return s && s->got == s->units;
}

#endif
