/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Session send: what goes back to sensors: ACKs when they are due, and answers. Mirror of
 * agent/export/session_receive.c.
 */
#ifndef COLLECTOR_NETWORK_SESSION_SEND_H
#define COLLECTOR_NETWORK_SESSION_SEND_H

#include "network.h"

/* Sends a whole datagram to an address that need not be a session's. */
void session_send_to(struct network *o, const uint8_t *out, size_t len, const struct sockaddr *to,
		     socklen_t to_len);
/* Sends a message in the sensor's present session. Returns 0, -ENOTCONN where there is none,
 * -EOPNOTSUPP where it goes one way, or -EAGAIN where the sensor must be heard first. */
int session_send(struct network *o, struct sensor *s, const uint8_t *message, size_t len);
/* Asks for a proof that the sensor is where its session's datagrams come from, where that is not
 * confirmed. */
void session_send_challenge(struct network *o, struct sensor *s, uint64_t now_ns);
/* PROBED, to this PROBE. */
void session_send_probe(struct network *o, struct sensor *s, const uint8_t *in);
/* Sends ACKs that are due. Returns when the next one is; UINT64_MAX: none is. */
uint64_t session_send_due(struct network *o, uint64_t now_ns);

#endif
