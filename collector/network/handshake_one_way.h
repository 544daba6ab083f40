/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake one way: set-ups of sensors that receive nothing (--one-way), and repeat their m1
 * during the session. In: an authentic m1. Out: a candidate, or a session whose window moved.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_ONE_WAY_H
#define COLLECTOR_NETWORK_HANDSHAKE_ONE_WAY_H

#include "handshake_candidate.h"
#include "handshake_slots.h"

#define HANDSHAKE_INITS_A_SECOND 2000 /* set-ups taken, each about 0.2 ms of Diffie-Hellman */

enum handshake_result {
	HANDSHAKE_NONE,	   /* not authentic */
	HANDSHAKE_TAKEN,   /* the answer has `out_len` bytes */
	HANDSHAKE_LIMITED, /* over the limit of this second */
	HANDSHAKE_IGNORED, /* authentic, spent, not answered: overtaken or refused */
	HANDSHAKE_ONE_WAY, /* a one-way session was made or moved; no answer */
	HANDSHAKE_VERSION, /* authentic, spent, not answered: another protocol version */
	HANDSHAKE_BUSY,	   /* another instance is active; answered, unless one-way */
};

/* A received m1 and its result. The caller sets the members before `hello`. */
struct set_up {
	struct handshake *m;
	struct table *t;
	struct sensor *s;
	const uint8_t *in;
	size_t len;
	bool has_slot; /* sent under a slot, `low` in the table; else under a cookie */
	uint32_t low;
	uint64_t now_ns;
	struct tryst_hello hello; /* the m1's content */
	size_t out_len;		  /* of the answer; 0: no answer */
	uint8_t out[SHROUD_DATAGRAM_MAX];
};

/* Takes the `hello` of a one-way session. Returns HANDSHAKE_ONE_WAY, HANDSHAKE_BUSY or
 * HANDSHAKE_IGNORED. */
enum handshake_result handshake_one_way_take(struct set_up *u);

#endif
