/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Message limit: how many messages a sensor may send in a second besides combos, which have their
 * turns (turns.h), and HEARD, which costs nothing. A sensor that works sends far fewer. What one
 * that has gone bad sends beyond that costs no more than to open it.
 */
#ifndef COLLECTOR_NETWORK_MESSAGE_LIMIT_H
#define COLLECTOR_NETWORK_MESSAGE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/model/rate_limit.h"
#include "wire/message.h"

#define MESSAGE_LIMIT_INFOS 512 /* what a sensor says of itself is taken apart and hashed */
#define MESSAGE_LIMIT_PROBES                                                                       \
	64			  /* each is answered at once; a sensor sends one a second at most \
				   */
#define MESSAGE_LIMIT_OTHERS 1024 /* TOTALS, FLOOR, ECHO, ANSWER, RENEW, and what is of no kind */
#define MESSAGE_SKIPS 32768	  /* numbers that a sensor leaves out in a second (below) */
#define MESSAGE_SKIPS_AT_ONCE 16384

/* A sensor's messages. */
struct message_limit {
	struct rate_limit infos, probes, others;
};

/* Whether one more message of this kind is looked at now. */
static inline bool message_limit_allows(struct message_limit *r, uint8_t kind, uint64_t now_ns)
{
	if (kind == MESSAGE_COMBO || kind == MESSAGE_HEARD)
		return true;
	if (kind == MESSAGE_INFO)
		return rate_limit_takes(&r->infos, MESSAGE_LIMIT_INFOS, now_ns);
	if (kind == MESSAGE_PROBE)
		return rate_limit_takes(&r->probes, MESSAGE_LIMIT_PROBES, now_ns);
	return rate_limit_takes(&r->others, MESSAGE_LIMIT_OTHERS, now_ns);
}

/*
 * Numbers that a sensor leaves out (wire/shroud.h). For each of them an address is taken out of the
 * table and another one is put in, so a datagram that leaves out a whole window costs as much as
 * hundreds of others. A leaky bucket (the generic cell rate algorithm, ITU-T I.371) holds what was
 * left out lately. While it is full, datagrams that leave numbers out are passed over.
 *
 * An honest sensor leaves out what the path loses, so no more than it sends. What a path with
 * several links only overtakes is taken off again when it comes. One that sends fewer than
 * MESSAGE_SKIPS datagrams a second is never passed over, even if all but one a second are lost:
 * it cannot send more than half a window, 2,048 at most, before it hears of an ACK.
 *
 * Nobody is locked out. How far ahead a datagram is does not matter, only whether the bucket is
 * full. The bucket leaks all the time, also while everything is passed over, and what is passed
 * over is not put into it. After one window too much it has room again in 1/8 of a second. So a
 * path that comes back, or a sensor after a pause, is taken at its first datagram.
 */
struct message_skips {
	uint64_t empty_ns; /* CLOCK_MONOTONIC: when the bucket will have run empty */
};

#define MESSAGE_SKIP_NS (1000000000ULL / MESSAGE_SKIPS)

/* Whether the bucket has room, for however many. */
static inline bool message_skips_allowed(const struct message_skips *r, uint64_t now_ns)
{
	return r->empty_ns < now_ns + MESSAGE_SKIPS_AT_ONCE * MESSAGE_SKIP_NS;
}

/* So many were left out, fewer than a window. */
static inline void message_skips_add(struct message_skips *r, uint32_t skips, uint64_t now_ns)
{
	if (r->empty_ns < now_ns)
		r->empty_ns = now_ns;
	r->empty_ns += skips * MESSAGE_SKIP_NS;
}

/* A number that was left out has come: it was only overtaken. */
static inline void message_skips_came(struct message_skips *r, uint64_t now_ns)
{
	if (r->empty_ns > now_ns)
		r->empty_ns -= MESSAGE_SKIP_NS;
}

#endif
