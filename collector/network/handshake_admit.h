/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake admit: sensors that ask for a session (handshake.h), under a slot or by a request
 * (handshake_requests.h). In: datagrams. Out: answers, candidates for sessions, counters, and lines
 * about who is refused.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_ADMIT_H
#define COLLECTOR_NETWORK_HANDSHAKE_ADMIT_H

#include "datagram.h"
#include "network.h"
#include "session.h"

/* Takes a datagram that the table has under `low` among a sensor's slots. Returns whether it is
 * authentic. */
bool handshake_admit_slot(struct network *o, struct sensor *s, uint32_t low,
			  const struct datagram *d);
/* Takes a datagram that the table knows nothing of. */
void handshake_admit_request(struct network *o, const struct datagram *d);
/* The candidate is to take the place of the present session, which is told of where the sensor goes
 * to and fro between two runs. */
void handshake_admit_begun(struct network *o, struct sensor *s, const struct session *candidate,
			   uint64_t now_ns);

#endif
