/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake replays: detects repeated requests (handshake_requests.h). It remembers exactly the
 * last REPLAYS requests, and recognizes each replay of them, in any number and order. A hash table
 * with a fixed place per request could not: two requests with the same place would replace each
 * other.
 *
 * A collector has one such object of 384 KiB, for any number of sensors.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_REPLAYS_H
#define COLLECTOR_NETWORK_HANDSHAKE_REPLAYS_H

#include <stdbool.h>
#include <stdint.h>

#define REPLAYS 32768		     /* a power of 2, at most 32,768 */
#define REPLAYS_PLACES (2 * REPLAYS) /* of the hash table */
#define REPLAYS_ID_LEN 16	     /* a request's random number */

struct replays {
	uint8_t key[16];	 /* SipHash key: an attacker cannot choose colliding numbers */
	uint32_t count, next;	 /* of `words`; index of the next to write */
	uint64_t words[REPLAYS]; /* hashes of seen requests, the oldest at `next` */
	uint16_t places[REPLAYS_PLACES]; /* index into `words`, plus 1; 0: free */
};

/* `r` is zeroed before. */
void replays_init(struct replays *r);
bool replays_has(const struct replays *r, const uint8_t id[REPLAYS_ID_LEN]);
/* Adds a number that is not in the table. If the ring is full, it replaces the oldest one. */
void replays_add(struct replays *r, const uint8_t id[REPLAYS_ID_LEN]);

#endif
