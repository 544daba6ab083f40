/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Session receive: datagrams become authentic messages of listed sensors (messages.h), or a
 * counter. One look into the table says whose an address is; who is not in it costs no more than
 * that. What goes back to sensors is session_send.h's. Mirror of agent/export/session.h and the
 * sealing half of agent/export/export.h.
 */
#ifndef COLLECTOR_NETWORK_SESSION_RECEIVE_H
#define COLLECTOR_NETWORK_SESSION_RECEIVE_H

#include "datagram.h"
#include "network.h"

/* The pointers above and handshake.own are set, the rest is zeroed. `floor_ns`: handshake_init. */
void session_receive_init(struct network *o, uint64_t floor_ns);
/* The list is now what the file says: who left has no session from now on. Returns 0 or -ENOMEM
 * after a line. */
int session_receive_sensors(struct network *o, const struct sensors_file *f);
void session_receive_free(struct network *o);

/* Brings what a datagram will need into the cache. */
static inline void session_receive_prefetch(const struct network *o, const uint8_t *in, size_t len)
{
	if (len >= SHROUD_ADDRESS_LEN)
		table_prefetch(&o->table, load_word(in));
}

/* Datagrams have been read, and follow. */
void session_receive_batch(struct network *o);
void session_receive_datagram(struct network *o, const struct datagram *d);
/* Sends ACKs that are due, ends old sessions, turns slots. Returns milliseconds until it is to
 * be called again. */
int session_receive_tick(struct network *o, uint64_t now_ns);
/* The end is near: what one-way sensors were waited for is not waited for any more. All combos are
 * taken that need not wait for the disk. */
void session_receive_overdue(struct network *o, uint64_t now_ns);
/* The end: what is settled by now is acknowledged. */
void session_receive_finish(struct network *o);

#endif
