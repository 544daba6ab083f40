/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake replays: whether a request was seen before (handshake_requests.h). It remembers the
 * last REPLAYS requests exactly: however many of them are replayed, and in whatever order, each one
 * is recognized. A hash table with a fixed place for each request cannot promise that, as two
 * requests of one place would drive each other out.
 *
 * One collector has one of these, 384 KiB, however many sensors it has.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_REPLAYS_H
#define COLLECTOR_NETWORK_HANDSHAKE_REPLAYS_H

#include <stdbool.h>
#include <stdint.h>

#define REPLAYS 32768		     /* a power of 2, at most 32,768 */
#define REPLAYS_PLACES (2 * REPLAYS) /* of the hash table */
#define REPLAYS_ID_LEN 16	     /* a request's random number */

struct replays {
	uint8_t key[16];	 /* SipHash's: nobody can choose numbers that crowd in the table */
	uint32_t count, next;	 /* of `words`; the next one to be written */
	uint64_t words[REPLAYS]; /* hashes of what was seen, the oldest at `next` */
	uint16_t places[REPLAYS_PLACES]; /* index into `words`, plus 1; 0: free */
};

/* `r` is zeroed. */
void replays_init(struct replays *r);
bool replays_has(const struct replays *r, const uint8_t id[REPLAYS_ID_LEN]);
/* Remembers a number that is not there, in place of the oldest one where there is no room. */
void replays_add(struct replays *r, const uint8_t id[REPLAYS_ID_LEN]);

#endif
