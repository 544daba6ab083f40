/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Session receive: turns datagrams into authentic messages of listed sensors (messages.h), or
 * counts them. One table lookup finds an address's owner. session_send.h sends to sensors. Mirror
 * of agent/export/session.h and the sealing half of agent/export/export.h.
 */
#ifndef COLLECTOR_NETWORK_SESSION_RECEIVE_H
#define COLLECTOR_NETWORK_SESSION_RECEIVE_H

#include "datagram.h"
#include "network.h"

/* The caller sets the pointers of struct network and handshake.own, and zeroes the rest.
 * `floor_ns`: see handshake_init. */
void session_receive_init(struct network *o, uint64_t floor_ns);
/* Applies the sensors file to the list. Removed sensors lose their sessions. Returns 0, or -ENOMEM
 * after a line. */
int session_receive_sensors(struct network *o, const struct sensors_file *f);
void session_receive_free(struct network *o);

/* Prefetches a datagram's table entry into the cache. */
static inline void session_receive_prefetch(const struct network *o, const uint8_t *in, size_t len)
{
	if (len >= SHROUD_ADDRESS_LEN)
		table_prefetch(&o->table, load_word(in));
}

/* Call it after reading a batch, before its datagrams: stores the time. */
void session_receive_batch(struct network *o);
void session_receive_datagram(struct network *o, const struct datagram *d);
/* Sends due ACKs, ends old sessions, turns slots. Returns milliseconds until the next call. */
int session_receive_tick(struct network *o, uint64_t now_ns);
/* Call it shortly before the end: stops waiting for one-way sensors' missing data, and takes all
 * combos that need not wait for the disk. */
void session_receive_overdue(struct network *o, uint64_t now_ns);
/* Call it at the end: acknowledges all settled combos. */
void session_receive_finish(struct network *o);

#endif
