/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake admit: admits sensors to a session (handshake.h), by a slot or a request
 * (handshake_requests.h). In: datagrams. Out: answers, candidates, counters, and lines about
 * refused sensors.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_ADMIT_H
#define COLLECTOR_NETWORK_HANDSHAKE_ADMIT_H

#include "datagram.h"
#include "network.h"
#include "session.h"

/* Takes a datagram whose address is the slot `low`, in the table, of the sensor's pair of keys.
 * Returns whether it is authentic. */
bool handshake_admit_slot(struct network *o, struct sensor *s, unsigned int pair, uint32_t low,
			  const struct datagram *d);
/* Takes a datagram whose address is not in the table. */
void handshake_admit_request(struct network *o, const struct datagram *d);
/* Call it before the candidate replaces the current session. Reports a sensor that alternates
 * between two runs. */
void handshake_admit_begun(struct network *o, struct sensor *s, const struct session *candidate,
			   uint64_t now_ns);

#endif
