/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One-way (--one-way, docs/wire.md): a session without datagrams from the collector. It is
 * announced before it begins, and again from time to time. Sent combos count as delivered, at a
 * fixed rate without acknowledgements. The control thread's half replaces session.c, handshake.c
 * and session_receive.c. The export thread's half gives deliver.c the answers of a collector.
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

/* ---- control thread -------------------------------------------------------------------------- */

/* Call it after session_init: makes the session one-way. Returns 0, or -errno after a line. */
int one_way_start(struct session *s);
/* Does due work, instead of session_tick. */
int one_way_tick(struct session *s, uint64_t now_ns);

/* ---- export thread --------------------------------------------------------------------------- */

/* A new session has begun. */
void one_way_begun(struct deliver *d, uint64_t now_ns);
/* Returns how many of `may` pieces may be sent now; and notes that `sent` were sent. */
uint32_t one_way_may(struct deliver *d, uint32_t may, uint64_t now_ns);
void one_way_sent(struct deliver *d, uint32_t sent);
/* Returns when there will be something to send; `due_ns` if nothing waits. */
uint64_t one_way_due_ns(const struct deliver *d, uint64_t due_ns, uint64_t now_ns);
/* All sent combos count as delivered. */
void one_way_ack(struct deliver *d, struct ack *a);

#endif
