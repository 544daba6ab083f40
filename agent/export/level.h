/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Level: chooses the compression level of each combo for `--compress auto`. In: how full the queue,
 * the kernel's ring and the store are, whether the export thread had to wait with combos, the CPU
 * time of the thread that compresses. Out: a step of a short list of levels. Only for that thread.
 *
 * While the CPU is the limit, it looks for the step at which the thread needs the least time per
 * byte of combo: to compress, seal and send. While the network is the limit, it takes stronger
 * levels. Otherwise it goes back to LEVEL_USUAL, a step at a time.
 */
#ifndef AGENT_EXPORT_LEVEL_H
#define AGENT_EXPORT_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/compress.h"

#define LEVEL_USUAL 1	     /* the level without need for another one */
#define LEVEL_AUTO INT32_MAX /* an option: chosen for each combo */

/* Combos in a row that show that the CPU is the limit. The queue has up to 8 combos, and the
 * kernel's ring has room for hundreds. */
#define LEVEL_PRESSED 8
#define LEVEL_STEPS 6

#define LEVEL_RAISE_NS 100000000ULL	 /* at least, between two raises */
#define LEVEL_HOLD_MIN_NS 1000000000ULL	 /* before a step back to the usual one */
#define LEVEL_HOLD_MAX_NS 64000000000ULL /* doubled up to this, if a step back was too early */
#define LEVEL_OLD_NS 64000000000ULL	 /* what was learned is forgotten */

/* What the thread sees when it takes a combo. */
struct level_sight {
	bool queue_full;     /* the capture thread waits */
	bool blocked;	     /* since the last combo, the export thread had to wait with combos */
	uint32_t ring_used;  /* part of the kernel's ring in use, in 1/256; 0: not known */
	uint32_t store_used; /* part of the store in use, in 1/256 */
	uint32_t body_len;   /* of the last combo, bytes */
	uint64_t now_ns;     /* CLOCK_MONOTONIC */
	uint64_t (*cpu_ns)(void); /* the thread's CPU time; called once in LEVEL_PRESSED combos */
};

struct level {
	bool automatic;
	int fixed;		    /* not automatic: the level, or COMPRESS_NONE */
	uint8_t step, top;	    /* of the list; the strongest one that may be used */
	uint8_t pressed;	    /* combos in a row */
	uint64_t bytes, from_ns;    /* of these combos; CPU time before the first one */
	uint32_t ring_used;	    /* with the first one */
	uint32_t cost[LEVEL_STEPS]; /* picoseconds per byte of combo; 0: not known */
	uint64_t changed_ns;	    /* the last change */
	uint64_t needed_ns;	    /* when the step was last needed */
	uint64_t hold_ns;	    /* pause before a step back */
	bool back;		    /* the last change was a step back */
	/* Read by any thread. */
	uint64_t changes, lowered, raised; /* combos below and above the usual level */
	int32_t now;			   /* the present level */
};

/* `automatic`, or the level `fixed`, COMPRESS_NONE: not compressed. */
void level_init(struct level *l, bool automatic, int fixed);
/* Returns the level of the next combo, or COMPRESS_NONE. */
int level_next(struct level *l, const struct level_sight *s);
/* Returns the strongest level that may be returned, COMPRESS_NONE if none is compressed. */
int level_strongest(const struct level *l);

#endif
