/* SPDX-License-Identifier: GPL-2.0 */
/* Handshake m1: a sensor's first message in a handshake (docs/wire.md), and its result. */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_M1_H
#define COLLECTOR_NETWORK_HANDSHAKE_M1_H

#include "handshake_slots.h"
#include "wire/shroud.h"

#define HANDSHAKE_INITS_A_SECOND 2000 /* set-ups taken, each about 0.2 ms of Diffie-Hellman */

enum handshake_result {
	HANDSHAKE_NONE,	     /* not authentic */
	HANDSHAKE_TAKEN,     /* the answer has `out_len` bytes */
	HANDSHAKE_LIMITED,   /* over the limit of this second */
	HANDSHAKE_IGNORED,   /* authentic, spent, not answered: overtaken or refused */
	HANDSHAKE_ANNOUNCED, /* no answer: handshake_one_way.h made or moved a session */
	HANDSHAKE_VERSION,   /* authentic, spent, not answered: another protocol version */
	HANDSHAKE_BUSY,	     /* another instance is active; the answer may be empty */
};

/* A received m1 and its result. The caller sets the members before `hello`. */
struct set_up {
	struct handshake *m;
	struct table *t;
	struct sensor *s;
	unsigned int pair; /* number of the pair of keys */
	const uint8_t *in;
	size_t len;
	bool has_slot; /* sent under a slot, `low` in the table; else under a cookie */
	uint32_t low;
	uint64_t now_ns;
	struct tryst_hello hello; /* the m1's content */
	size_t out_len;		  /* of the answer; 0: no answer */
	uint8_t out[SHROUD_DATAGRAM_MAX];
};

#endif
