/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake: Tryst at the collector (docs/wire.md). In: an m1, under a slot (handshake_slots.h) or
 * a cookie (handshake_requests.h); RENEW. Out: a candidate (handshake_candidate.h) and the answer.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_H
#define COLLECTOR_NETWORK_HANDSHAKE_H

#include "handshake_m1.h"

/* Takes a set-up. After HANDSHAKE_TAKEN the sensor has a candidate. After HANDSHAKE_TAKEN or
 * HANDSHAKE_BUSY the caller sends the `out_len` bytes of `out`, if any, to the m1's address. Wipes
 * `hello`. */
enum handshake_result handshake_take(struct set_up *u);
/* Takes a RENEW of the current session. Returns whether there is an answer, in the candidate's
 * `renew`. */
bool handshake_renew(struct handshake *m, struct table *t, struct sensor *s, const uint8_t *message,
		     uint64_t now_ns);

#endif
