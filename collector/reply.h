/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reply: what goes back to sensors: ACKs when they are due, and answers. Mirror of
 * agent/export/hear.c.
 */
#ifndef COLLECTOR_REPLY_H
#define COLLECTOR_REPLY_H

#include "open.h"

/* Sends a whole datagram to an address that need not be a session's. */
void reply_to(struct open *o, const uint8_t *out, size_t len, const struct sockaddr *to,
	      socklen_t to_len);
/* Sends a message in the sensor's present session. Returns 0, -ENOTCONN where there is none,
 * -EOPNOTSUPP where it goes one way, or -EAGAIN where the sensor must be heard first. */
int reply_send(struct open *o, struct sensor *s, const uint8_t *message, size_t len);
/* Asks for a proof that the sensor is where its session's datagrams come from, where that is not
 * confirmed. */
void reply_challenge(struct open *o, struct sensor *s, uint64_t now_ns);
/* PROBED, to this PROBE. */
void reply_probe(struct open *o, struct sensor *s, const uint8_t *in);
/* Sends ACKs that are due. Returns when the next one is; UINT64_MAX: none is. */
uint64_t reply_due(struct open *o, uint64_t now_ns);

#endif
