/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections: log lines about sensors that connect for the first time, or again after a silence.
 * They share a quota of 16 lines a minute (log_limit.h), so that a fleet does not flood the log.
 */
#ifndef COLLECTOR_NETWORK_CONNECTIONS_H
#define COLLECTOR_NETWORK_CONNECTIONS_H

#include "network.h"
#include "session.h"

#define CONNECTIONS_AWAY_NS 3000000000ULL /* shorter silences are not logged */

/* Call it when a session begins, with the address of its first datagram, and before the sensor's
 * heard_ns changes. A sensor that is logged here is SENSOR_UP, and board/presence.h does not log it
 * again. */
void connections_begun(struct network *o, struct sensor *s, const struct session *session,
		       const struct sockaddr *from, uint64_t now_ns);

#endif
