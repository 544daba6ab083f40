/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sensor sessions: changes a sensor's current session. In: a candidate (handshake_candidate.h)
 * whose first datagram opened, time. Out: the current session, whose run goes to combo/intake.h;
 * the old one, which receives datagrams in flight until its time is over. Always holds: no datagram
 * of one agent process counts as another's.
 */
#ifndef COLLECTOR_NETWORK_SENSOR_SESSIONS_H
#define COLLECTOR_NETWORK_SENSOR_SESSIONS_H

#include "network.h"

#define SENSOR_SESSIONS_OLD_NS 10000000000ULL /* lifetime of an old session */

/* Makes the candidate current, after its first datagram opened: the sensor has the new keys. */
void sensor_sessions_begin(struct network *o, struct sensor *s, uint64_t now_ns);
/* Ends old sessions whose time is over. Returns the time of the next one; UINT64_MAX: none. */
uint64_t sensor_sessions_expire(struct network *o, uint64_t now_ns);
/* Ends all sessions of a sensor, and cancels its waiting run. */
void sensor_sessions_end(struct network *o, struct sensor *s);

#endif
