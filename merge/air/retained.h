/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Retained: transmissions that were given, for receptions that come late. They are kept for
 * RETAINED_NS of the air, and in at most RETAINED_CHUNKS * RETAINED_CHUNK bytes; then the oldest go
 * first. Entries lie in the order in which they were given; an entry names the one before it that
 * has the same hash, which is of its key and of a slot of time.
 */
#ifndef MERGE_AIR_RETAINED_H
#define MERGE_AIR_RETAINED_H

#include "merge/model/transmission.h"

#define RETAINED_NS 60000000000LL
#define RETAINED_CHUNK (256 * 1024) /* bytes */
#define RETAINED_CHUNKS 256
#define RETAINED_BUCKETS (256 * 1024)

struct retained_entry {
	int64_t at_ns; /* its time */
	uint64_t key;
	uint64_t number : 63, left : 1; /* as in struct transmission */
	uint64_t before;		/* place of the one before it that has the same hash */
	int32_t centre_ns;		/* from its time: where receptions are to be expected */
	uint32_t part, count;
	uint32_t radios[]; /* `count` */
};

/* A place counts the bytes of all entries before it, from 1 chunk: 0 is none. */
struct retained {
	uint8_t *chunks[RETAINED_CHUNKS]; /* by place / RETAINED_CHUNK, modulo their number */
	uint64_t *buckets;		  /* places */
	uint64_t oldest, end;		  /* places; `oldest` is a chunk's first */
	int64_t newest_ns;
	uint64_t evicted; /* entries that had to go before RETAINED_NS */
};

/* Returns 0 or -ENOMEM. */
int retained_init(struct retained *r);
void retained_free(struct retained *r);
/* Keeps a transmission, `centre_ns` from its time. Returns 0 or -ENOMEM. */
int retained_add(struct retained *r, const struct transmission *t, double centre_ns);
/* Returns the nearest transmission of this key within the window that the radio has not heard, or
 * NULL. It is valid until the next retained_add(). */
const struct retained_entry *retained_find(const struct retained *r, uint64_t key, uint32_t part,
					   uint32_t radio, int64_t unified_ns, double window_ns);

#endif
