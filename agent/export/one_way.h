/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One-way (--one-way, docs/wire.md): a session without datagrams from the collector. It is
 * announced before it begins, and again from time to time. Sent combos count as delivered, at a
 * fixed rate without acknowledgements. One half sets up sessions for session.c, the other settles
 * combos for deliver.c.
 */
#ifndef AGENT_ONE_WAY_H
#define AGENT_ONE_WAY_H

#include "deliver.h"

#define ONE_WAY_SLOT_NS (TRYST_INTERVAL_NS / TRYST_SLOTS)
#define ONE_WAY_WINDOW 4096
#define ONE_WAY_DATAGRAM_NS 1000000ULL /* 1,000 datagrams per second */
#define ONE_WAY_BURST 64
#define ONE_WAY_ANNOUNCED 3	      /* announcements before a new session begins */
#define ONE_WAY_BEGIN_NS 250000000ULL /* after its last announcement */
#define ONE_WAY_FINALS 10

struct one_way {
	/* control thread */
	uint64_t slot;		    /* last used slot, counted since 1970; 0: none */
	uint64_t time_ns;	    /* time of the last m1 */
	uint8_t ephemeral[KEY_LEN]; /* E_s of the current session */
	bool pending;		    /* a new one has not begun yet: */
	uint8_t pending_ephemeral[KEY_LEN], k2[KEY_LEN];
	unsigned int announced; /* number of announcements */
	uint64_t begin_ns;	/* 0: more announcements come first */
	/* shared, guarded by the session's lock */
	uint64_t next, limit; /* number of the next datagram, and its limit */
	/* export thread */
	uint64_t filled_ns, credit_ns; /* pacing */
	uint64_t known_limit;	       /* copy of `limit` */
	uint64_t finals_from; /* number of the first final totals sent after all combos; 0: none */
};

/* Makes the session and its deliveries one-way. Call it after session_init and before deliver_init.
 * `w` is zeroed, outlives both, and has keys: wipe it. Returns 0, or -errno after a line. */
int one_way_start(struct one_way *w, struct session *s, struct deliver *d);

#endif
