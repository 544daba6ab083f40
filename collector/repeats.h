/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Repeats: whether a request was seen before (requests.h). It remembers the last REPEATS requests
 * exactly: however many of them are replayed, and in whatever order, each one is recognized. A hash
 * table with a fixed place for each request cannot promise that, as two requests of one place would
 * drive each other out.
 *
 * One collector has one of these, 384 KiB, however many sensors it has.
 */
#ifndef COLLECTOR_REPEATS_H
#define COLLECTOR_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

#define REPEATS 32768		     /* a power of 2, at most 32,768 */
#define REPEATS_PLACES (2 * REPEATS) /* of the hash table */
#define REPEATS_ID_LEN 16	     /* a request's random number */

struct repeats {
	uint8_t key[16];	 /* SipHash's: nobody can choose numbers that crowd in the table */
	uint32_t count, next;	 /* of `words`; the next one to be written */
	uint64_t words[REPEATS]; /* hashes of what was seen, the oldest at `next` */
	uint16_t places[REPEATS_PLACES]; /* index into `words`, plus 1; 0: free */
};

/* `r` is zeroed. */
void repeats_init(struct repeats *r);
bool repeats_has(const struct repeats *r, const uint8_t id[REPEATS_ID_LEN]);
/* Remembers a number that is not there, in place of the oldest one where there is no room. */
void repeats_add(struct repeats *r, const uint8_t id[REPEATS_ID_LEN]);

#endif
