/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake one way: set-ups of sensors that hear nothing (--one-way), and repeat what they say
 * while the session lives. In: an authentic m1. Out: a candidate, or a session that was moved on.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_ONE_WAY_H
#define COLLECTOR_NETWORK_HANDSHAKE_ONE_WAY_H

#include "handshake_candidate.h"
#include "handshake_slots.h"

#define HANDSHAKE_INITS_A_SECOND 2000 /* set-ups answered, each some 0.2 ms of Diffie-Hellman */

enum handshake_result {
	HANDSHAKE_NONE,	   /* not authentic */
	HANDSHAKE_TAKEN,   /* there is an answer of `out_len` bytes */
	HANDSHAKE_LIMITED, /* too many in this second */
	HANDSHAKE_IGNORED, /* authentic, spent and not answered: an older one than the last */
	HANDSHAKE_ONE_WAY, /* of a one-way session, which has been made or moved: nothing is
			      answered */
	HANDSHAKE_VERSION, /* authentic, spent and not answered: of another version of the protocol
			    */
	HANDSHAKE_BUSY,	   /* another instance is being heard: there is an answer that says so */
};

/* An m1 that came, and what becomes of it. The caller sets the members above `hello`. */
struct set_up {
	struct handshake *m;
	struct table *t;
	struct sensor *s;
	const uint8_t *in;
	size_t len;
	bool has_slot; /* it came under a slot, which the table has under `low`; or under a cookie
			*/
	uint32_t low;
	uint64_t now_ns;
	struct tryst_hello hello; /* what it says */
	size_t out_len;		  /* of the answer; 0: there is none */
	uint8_t out[SHROUD_DATAGRAM_MAX];
};

/* Takes the `hello` of a one-way session. Returns HANDSHAKE_ONE_WAY, HANDSHAKE_BUSY or
 * HANDSHAKE_IGNORED. */
enum handshake_result handshake_one_way_take(struct set_up *u);

#endif
