/* SPDX-License-Identifier: GPL-2.0 */
/* Transmission: a frame on the air, with all receptions of it. */
#ifndef MERGE_MODEL_TRANSMISSION_H
#define MERGE_MODEL_TRANSMISSION_H

#include "reception.h"

/* A reception in a transmission. */
struct heard {
	struct heard *next; /* later, by the unified time */
	int64_t stamp_ns;   /* the sensor's */
	int64_t own_ns;	    /* its domain's */
	int64_t unified_ns;
	double variance; /* of unified_ns, without the stamp's; ns^2 */
	uint32_t radio, domain, generation;
	uint16_t mhz;
	uint8_t flags;
	int8_t signal;
	/* Its bytes, if all receptions are kept (struct match). */
	struct chunk *chunk;
	const uint8_t *frame;
	uint32_t kept, whole;
};

struct transmission {
	struct transmission *chain,
		*chained;		    /* of the same hash: begun before and after this one */
	struct transmission *older, *newer; /* begun before and after this one */
	uint64_t key;
	uint64_t number;  /* from 1, in the order in which they are given */
	uint64_t radios;  /* bit n: perhaps one of the radios n, n + 64 ... has heard it */
	uint64_t address; /* as in struct reception */
	struct heard *first, *last;
	struct heard *middle;	/* lower median: its time is the transmission's */
	double mean_ns, weight; /* of the receptions, from the first one's time; of near classes */
	struct heard *damaged;	/* receptions with a wrong FCS (air/damaged.h), in any order */
	uint32_t count, damaged_count, part;
	uint8_t class;
	bool tracks;
	bool left;	  /* to another merger (slice.h) */
	bool found;	  /* a late reception of a transmission that was given with this number, */
	int64_t found_ns; /* at this time */
	/* The best reception. */
	struct chunk *chunk;
	const uint8_t *frame;
	uint32_t kept, whole, length, radio; /* `length`: on the air, without FCS */
	uint16_t mhz;
	uint8_t flags;
	int8_t signal;
};

static inline int64_t transmission_ns(const struct transmission *t)
{
	return t->found ? t->found_ns : t->middle->unified_ns;
}

/* Whether one of the receptions is the radio's. */
static inline bool heard_has_radio(const struct heard *h, uint32_t radio)
{
	for (; h; h = h->next)
		if (h->radio == radio)
			return true;
	return false;
}

/* Receptions. */
static inline uint32_t transmission_heard(const struct transmission *t)
{
	return t->count + t->damaged_count;
}

#endif
