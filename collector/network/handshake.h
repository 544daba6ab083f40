/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake: Tryst at the collector (docs/wire.md). In: an m1, under a slot (handshake_slots.h) or
 * a cookie (handshake_requests.h); RENEW. Out: a candidate (handshake_candidate.h), and the answer.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_H
#define COLLECTOR_NETWORK_HANDSHAKE_H

#include "handshake_one_way.h"
#include "handshake_slots.h"

/* Takes a set-up. With HANDSHAKE_TAKEN the sensor has a candidate; with that and HANDSHAKE_BUSY
 * `out` goes to where it came from. `hello` is wiped. */
enum handshake_result handshake_take(struct set_up *u);
/* Takes a RENEW of the present session. Returns whether there is an answer: the candidate's
 * `renew`. */
bool handshake_renew(struct handshake *m, struct table *t, struct sensor *s, const uint8_t *message,
		     uint64_t now_ns);

#endif
