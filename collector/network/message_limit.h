/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Message limit: the most messages of a sensor per second, except combos, which take turns
 * (turns.h), and HEARD, which is cheap. A working sensor sends far fewer. Messages of a broken
 * sensor beyond the limit are only opened.
 */
#ifndef COLLECTOR_NETWORK_MESSAGE_LIMIT_H
#define COLLECTOR_NETWORK_MESSAGE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/model/rate_limit.h"
#include "wire/message.h"

#define MESSAGE_LIMIT_INFOS 512 /* each info is parsed and hashed */
#define MESSAGE_LIMIT_PROBES 64 /* answered at once; sensors send at most one per second */
/* TOTALS, FLOOR, PROGRESS, ECHO, ANSWER, RENEW, and unknown kinds. */
#define MESSAGE_LIMIT_OTHERS 1024
#define MESSAGE_SKIPS 32768 /* skipped numbers of a sensor per second (below) */
#define MESSAGE_SKIPS_AT_ONCE 16384

/* A sensor's messages. */
struct message_limit {
	struct rate_limit infos, probes, others;
};

/* Counts a message of this kind. Returns whether it is within the limit. */
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
 * Numbers that a sensor skips (wire/shroud.h). For each one, an address in the table is replaced,
 * so a datagram that skips a whole window costs as much as hundreds of others. A leaky bucket (the
 * generic cell rate algorithm, ITU-T I.371) counts recent skips. While it is full, datagrams that
 * skip numbers are ignored.
 *
 * An honest sensor skips only numbers that the path loses, so no more than it sends. If the path
 * only reorders datagrams, late ones are subtracted again. A sensor with fewer than MESSAGE_SKIPS
 * datagrams per second is never ignored, even if only one per second arrives. Before an ACK it
 * sends at most half a window, so at most 2,048.
 *
 * No sensor is locked out. Only a full bucket counts, not how far ahead a datagram is. The bucket
 * leaks all the time, and ignored datagrams do not fill it. After one window too much it has room
 * again within 1/8 of a second. So after an outage or a pause, the sensor's first datagram is
 * accepted.
 */
struct message_skips {
	uint64_t empty_ns; /* CLOCK_MONOTONIC: when the bucket will be empty */
};

#define MESSAGE_SKIP_NS (1000000000ULL / MESSAGE_SKIPS)

/* Whether the bucket has room. Then any number of skips is allowed. */
static inline bool message_skips_allowed(const struct message_skips *r, uint64_t now_ns)
{
	return r->empty_ns < now_ns + MESSAGE_SKIPS_AT_ONCE * MESSAGE_SKIP_NS;
}

/* Adds the skips of a datagram, fewer than a window. */
static inline void message_skips_add(struct message_skips *r, uint32_t skips, uint64_t now_ns)
{
	if (r->empty_ns < now_ns)
		r->empty_ns = now_ns;
	r->empty_ns += skips * MESSAGE_SKIP_NS;
}

/* Subtracts a skipped number that arrived late. */
static inline void message_skips_came(struct message_skips *r, uint64_t now_ns)
{
	if (r->empty_ns > now_ns)
		r->empty_ns -= MESSAGE_SKIP_NS;
}

#endif
