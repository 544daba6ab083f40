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
	struct transmission *chain, *newer; /* of the same hash; begun after this one */
	uint64_t key;
	uint64_t radios;  /* bit n: perhaps one of the radios n, n + 64 ... has heard it */
	uint64_t address; /* as in struct reception */
	struct heard *first, *last;
	struct heard *middle;	/* lower median: its time is the transmission's */
	double mean_ns, weight; /* of the receptions, from the first one's time; of near classes */
	uint32_t count, part;
	uint8_t class;
	bool tracks;
	/* The best reception. */
	struct chunk *chunk;
	const uint8_t *frame;
	uint32_t kept, whole, radio;
	uint16_t mhz;
	uint8_t flags;
	int8_t signal;
};

static inline int64_t transmission_ns(const struct transmission *t)
{
	return t->middle->unified_ns;
}

#endif
