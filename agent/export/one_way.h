/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One way (--one-way, docs/wire.md): a session with a collector that is not heard. It is announced
 * before it begins and again and again; what was sent counts as delivered, and a fixed pace takes
 * the place of acknowledgements. The control thread's half stands in for session.c, handshake.c and
 * session_receive.c, the export thread's tells deliver.c what a collector would.
 */
#ifndef AGENT_ONE_WAY_H
#define AGENT_ONE_WAY_H

#include "deliver.h"

#define ONE_WAY_SLOT_NS (TRYST_INTERVAL_NS / TRYST_SLOTS)
#define ONE_WAY_WINDOW 4096
#define ONE_WAY_DATAGRAM_NS 1000000ULL /* 1,000 datagrams a second */
#define ONE_WAY_BURST 64
#define ONE_WAY_ANNOUNCED 3	      /* times, before another session takes over */
#define ONE_WAY_BEGIN_NS 250000000ULL /* behind its last announcement */
#define ONE_WAY_FINALS 10

/* ---- control thread -------------------------------------------------------------------------- */

/* Behind session_init: from now on it is one-way. Returns 0, or -errno after a line. */
int one_way_start(struct session *s);
/* What is due, in place of session_tick's. */
int one_way_tick(struct session *s, uint64_t now_ns);

/* ---- export thread --------------------------------------------------------------------------- */

/* Another session has begun. */
void one_way_begun(struct deliver *d, uint64_t now_ns);
/* How many of `may` pieces may be sent now; and `sent` of them have been. */
uint32_t one_way_may(struct deliver *d, uint32_t may, uint64_t now_ns);
void one_way_sent(struct deliver *d, uint32_t sent);
/* When there will be something to send; `due_ns` where nothing waits. */
uint64_t one_way_due_ns(const struct deliver *d, uint64_t due_ns, uint64_t now_ns);
/* All that was sent is delivered. */
void one_way_ack(struct deliver *d, struct ack *a);

#endif
