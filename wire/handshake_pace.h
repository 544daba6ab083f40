/* SPDX-License-Identifier: GPL-2.0 */
/* How long a sensor waits before it asks for a session in another way, or again. saluki-swarm has
 * the same pace. */
#ifndef WIRE_HANDSHAKE_PACE_H
#define WIRE_HANDSHAKE_PACE_H

#include <sodium.h>
#include <stdint.h>

#define SESSION_REQUEST_NS 300000000ULL /* an m1 that is not answered by then is asked about */
#define SESSION_UNDATED_NS 150000000ULL /* after that, asked about without a date */
#define HANDSHAKE_RETRY_FIRST_MS 1000
#define HANDSHAKE_RETRY_SAME                                                                       \
	12 /* attempts: a collector that is being started anew is back by then                     \
	    */
#define HANDSHAKE_RETRY_DOUBLED 3 /* times: 8 seconds */

/* 1 second for a while, then 2, 4 and 8, and up to a quarter more. Attempts count from 0. */
static inline uint64_t handshake_retry_ms(unsigned int attempt)
{
	unsigned int doubled = attempt < HANDSHAKE_RETRY_SAME ? 0
							      : attempt - HANDSHAKE_RETRY_SAME + 1;
	uint64_t ms = HANDSHAKE_RETRY_FIRST_MS
		      << (doubled < HANDSHAKE_RETRY_DOUBLED ? doubled : HANDSHAKE_RETRY_DOUBLED);

	return ms + randombytes_uniform(ms / 4);
}

#endif
