/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rate limit: how often in a second something may be done for one who asks: set-ups, requests, and
 * the messages of a sensor besides combos, which have their turns (turns.h), and HEARD, which costs
 * nothing. A sensor that works asks for none of them nearly as often; what one that has gone bad
 * sends beyond that costs no more than to open it.
 */
#ifndef COLLECTOR_NETWORK_RATE_LIMIT_H
#define COLLECTOR_NETWORK_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/message.h"

#define RATE_LIMIT_INFOS 512   /* what a sensor says of itself is taken apart and hashed */
#define RATE_LIMIT_PROBES 64   /* each is answered at once; a sensor sends one a second at most */
#define RATE_LIMIT_OTHERS 1024 /* TOTALS, FLOOR, ECHO, ANSWER, RENEW, and what is of no kind */
#define RATE_LIMIT_SKIPS 32768 /* numbers that a sensor leaves out in a second (below) */
#define RATE_LIMIT_SKIPS_AT_ONCE 16384

struct rate_limit {
	uint32_t second, used; /* CLOCK_MONOTONIC */
};

/* Whether it is done once more in this second, `most` times at most. */
static inline bool rate_limit_takes(struct rate_limit *r, uint32_t most, uint64_t now_ns)
{
	uint32_t second = now_ns / 1000000000;

	if (r->second != second)
		*r = (struct rate_limit){ .second = second };
	if (r->used >= most)
		return false;
	r->used++;
	return true;
}

/* Whether it is done once more: each time takes `step_ns`, and `*until_ns`, up to which all time is
 * taken, is at most `ahead_ns` ahead. */
static inline bool rate_limit_spaced(uint64_t *until_ns, uint64_t step_ns, uint64_t ahead_ns,
				     uint64_t now_ns)
{
	if (*until_ns < now_ns)
		*until_ns = now_ns;
	if (*until_ns + step_ns > now_ns + ahead_ns)
		return false;
	*until_ns += step_ns;
	return true;
}

/* A sensor's messages. */
struct rate_limit_messages {
	struct rate_limit infos, probes, others;
};

/* Whether one more message of this kind is looked at now. */
static inline bool rate_limit_allows(struct rate_limit_messages *r, uint8_t kind, uint64_t now_ns)
{
	if (kind == MESSAGE_COMBO || kind == MESSAGE_HEARD)
		return true;
	if (kind == MESSAGE_INFO)
		return rate_limit_takes(&r->infos, RATE_LIMIT_INFOS, now_ns);
	if (kind == MESSAGE_PROBE)
		return rate_limit_takes(&r->probes, RATE_LIMIT_PROBES, now_ns);
	return rate_limit_takes(&r->others, RATE_LIMIT_OTHERS, now_ns);
}

/*
 * Numbers that a sensor leaves out (wire/shroud.h). For each of them an address is taken out of the
 * table and another one is put in, so a datagram that leaves out a whole window costs as much as
 * hundreds of others. A leaky bucket (the generic cell rate algorithm, ITU-T I.371) holds what was
 * left out lately. While it is full, datagrams that leave numbers out are passed over.
 *
 * An honest sensor leaves out what the path loses, so no more than it sends. What a path with
 * several links only overtakes is taken off again when it comes. One that sends fewer than
 * RATE_LIMIT_SKIPS datagrams a second is never passed over, even if all but one a second are lost:
 * it cannot send more than half a window, 2,048 at most, before it hears of an ACK.
 *
 * Nobody is locked out. How far ahead a datagram is does not matter, only whether the bucket is
 * full. The bucket leaks all the time, also while everything is passed over, and what is passed
 * over is not put into it. After one window too much it has room again in 1/8 of a second. So a
 * path that comes back, or a sensor after a pause, is taken at its first datagram.
 */
struct rate_limit_skips {
	uint64_t empty_ns; /* CLOCK_MONOTONIC: when the bucket will have run empty */
};

#define RATE_LIMIT_SKIP_NS (1000000000ULL / RATE_LIMIT_SKIPS)

/* Whether the bucket has room, for however many. */
static inline bool rate_limit_skips_allowed(const struct rate_limit_skips *r, uint64_t now_ns)
{
	return r->empty_ns < now_ns + RATE_LIMIT_SKIPS_AT_ONCE * RATE_LIMIT_SKIP_NS;
}

/* So many were left out, fewer than a window. */
static inline void rate_limit_skip(struct rate_limit_skips *r, uint32_t skips, uint64_t now_ns)
{
	if (r->empty_ns < now_ns)
		r->empty_ns = now_ns;
	r->empty_ns += skips * RATE_LIMIT_SKIP_NS;
}

/* A number that was left out has come: it was only overtaken. */
static inline void rate_limit_skip_came(struct rate_limit_skips *r, uint64_t now_ns)
{
	if (r->empty_ns > now_ns)
		r->empty_ns -= RATE_LIMIT_SKIP_NS;
}

#endif
