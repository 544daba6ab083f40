/* SPDX-License-Identifier: GPL-2.0 */
/* Sensor: the room's own part of a sensor, sensor.network (collector/model/sensors.h). */
#ifndef COLLECTOR_NETWORK_SENSOR_H
#define COLLECTOR_NETWORK_SENSOR_H

#include "collector/model/rate_limit.h"
#include "collector/model/sensors.h"
#include "common/skew.h"
#include "message_limit.h"
#include "session.h"

#define SENSOR_SESSIONS 3

/* The owner of an address in the table: the sensor's index, and its slots, one of its sessions, or
 * its public key (handshake_requests.c). */
enum sensor_kind {
	SENSOR_SLOTS = 0,
	SENSOR_SESSION = 1, /* and the next SENSOR_SESSIONS - 1 */
	SENSOR_KEY = SENSOR_SESSION + SENSOR_SESSIONS,
	SENSOR_KINDS = 8,
};
#define SENSOR_OWNER(index, kind) (((uint32_t)(index) + 1) * SENSOR_KINDS + (kind))
#define SENSOR_OWNER_INDEX(owner) ((owner) / SENSOR_KINDS - 1)
#define SENSOR_OWNER_KIND(owner) ((owner) % SENSOR_KINDS)

struct network_sensor {
	/* SENSOR_SESSIONS of them; NULL before its first set-up */
	struct session *sessions;
	/* indices, -1: none; the candidate becomes current when a datagram uses it
	 * (sensor_sessions.c) */
	int8_t current, candidate, old;
	unsigned int unacked;	    /* datagrams received since the last ACK */
	struct message_skips skips; /* session_receive.c */
	struct message_limit limit; /* messages.c */
	/* Each datagram uses what is above. */

	/* handshake.c, handshake_slots.c */
	uint8_t pair[KEY_LEN];
	uint64_t slots_of; /* the table has this interval's slots, and both neighbours' */
	uint32_t spent[3]; /* at i % 3: bitmap of interval i's slots outside the table */
	uint8_t version;   /* protocol version of its last m1 */

	/* handshake_one_way.c */
	uint64_t announced_ns; /* protocol time in its last m1 */
	bool refusal_logged;

	/* handshake_requests.c */
	struct rate_limit requests;
	uint32_t cookies_used; /* set-ups under cookies; each one voids its other cookies */
	uint64_t key_word;     /* address of its public key in the table */

	uint64_t earlier_run; /* handshake_admit.c: the run before the current one */

	/* sensor_sessions.c */
	uint64_t renewed_ns;	 /* monotonic, of the last processed RENEW */
	uint64_t old_until_ns;	 /* monotonic: end of `old` */
	struct sensor *old_next; /* in the list of sensors with an `old` */
	bool old_listed;

	struct skew skew; /* messages.c: state of lines about its clock */
};

/* Allocates the sessions, unless that was done. Returns 0 or -ENOMEM. */
int network_sensor_sessions(struct sensor *s);
/* Returns 0 or -ENOMEM. */
int network_sensor_new(struct sensor *s);
void network_sensor_free(struct sensor *s); /* network may be NULL; the sessions have ended */

/* Returns the sensor's current session; NULL: none. */
static inline struct session *sensor_session(const struct sensor *s)
{
	struct network_sensor *n = s->network;

	return n->current < 0 ? NULL : &n->sessions[n->current];
}

/* Returns the session that may become current next; NULL: none. */
static inline struct session *sensor_candidate(const struct sensor *s)
{
	struct network_sensor *n = s->network;

	return n->candidate < 0 ? NULL : &n->sessions[n->candidate];
}

#endif
