/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Session receive: opens sensors' datagrams. In: untrusted datagrams. Out: authentic messages of
 * listed sensors, to messages.h; datagrams that begin a session, to handshake_admit.h; all others
 * are counted. One table lookup finds an address's owner. session_send.h sends to sensors. Mirror
 * of agent/export/session_send.h.
 */
#ifndef COLLECTOR_NETWORK_SESSION_RECEIVE_H
#define COLLECTOR_NETWORK_SESSION_RECEIVE_H

#include "datagram.h"
#include "network.h"

#define SESSION_RECEIVE_ACK_EVERY 16	   /* datagrams */
#define SESSION_RECEIVE_ACK_NS 20000000ULL /* at most, after the first unacknowledged datagram */
/* An ACK reports the last SHROUD_BEHIND datagrams. With so many unacknowledged ones, it is sent
 * before the other datagrams of the socket are received. Otherwise the sensor would believe that
 * earlier ones are lost. */
#define SESSION_RECEIVE_ACK_AT_ONCE (SHROUD_BEHIND / 2)

/* Takes the datagrams of one read. */
void session_receive_batch(struct network *o, const struct datagram *list, unsigned int count);

#endif
