/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Session send: sends to sensors: due ACKs, and answers. Mirror of agent/export/session_receive.c.
 */
#ifndef COLLECTOR_NETWORK_SESSION_SEND_H
#define COLLECTOR_NETWORK_SESSION_SEND_H

#include "network.h"

#define SESSION_SEND_CHALLENGE_NS 250000000ULL /* at least, between two CHALLENGEs */

/* Sends a complete datagram to an address, which need not belong to a session. */
void session_send_to(struct network *o, const uint8_t *out, size_t len, const struct sockaddr *to,
		     socklen_t to_len);
/* Sends a message in the sensor's current session. Returns 0, -ENOTCONN without a session,
 * -EOPNOTSUPP if nothing may be sent in it (no_acks), or -EAGAIN if the sensor must send more
 * first. */
int session_send(struct network *o, struct sensor *s, const uint8_t *message, size_t len);
/* Sends a CHALLENGE if the session's address is not confirmed, for proof that the sensor receives
 * there. */
void session_send_challenge(struct network *o, struct sensor *s, uint64_t now_ns);
/* Sends PROBED, the answer to this PROBE. */
void session_send_probe(struct network *o, struct sensor *s, const uint8_t *in);
/* Sends an ACK. If that is not allowed yet, the sensor's next datagram makes the ACK due again. */
void session_send_ack(struct network *o, struct sensor *s, uint64_t now_ns);
/* Sends due ACKs. Returns the time of the next one; UINT64_MAX: none. */
uint64_t session_send_due(struct network *o, uint64_t now_ns);

#endif
