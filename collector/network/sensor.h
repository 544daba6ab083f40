/* SPDX-License-Identifier: GPL-2.0 */
/* A sensor as network/ alone knows it: sensor.network (collector/model/sensors.h). */
#ifndef COLLECTOR_NETWORK_SENSOR_H
#define COLLECTOR_NETWORK_SENSOR_H

#include "collector/model/rate_limit.h"
#include "collector/model/sensors.h"
#include "common/skew.h"
#include "message_limit.h"
#include "session.h"

#define SENSOR_SESSIONS 3

/* Whose an address in the table is: the sensor's index, and which of its slots or sessions. Its
 * public key is there too (handshake_requests.c). */
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
	/* handshake.c */
	uint8_t pair[KEY_LEN];
	uint64_t slots_of;     /* interval whose slots, and both neighbours', are in the table */
	uint32_t spent[3];     /* bits: slots of interval i that are not, at i % 3 */
	uint64_t announced_ns; /* protocol time in its last one-way m1 */
	bool refused_one_way;  /* that was said */
	uint8_t said_version;  /* of the protocol, in its last m1 */

	/* handshake_requests.c */
	struct rate_limit requests;
	uint32_t cookies_used; /* set-ups under cookies; each makes its others void */
	uint64_t key_word;     /* where its public key is in the table */

	uint64_t earlier_run; /* handshake_admit.c: that the present one took the place of */

	/* SENSOR_SESSIONS of them, from its first set-up on; NULL before */
	struct session *sessions;
	/* which of those, -1: none; the candidate becomes current when it is used */
	int8_t current, candidate, old;
	uint64_t renewed_ns;	 /* monotonic, of the last RENEW that was worth work */
	uint64_t old_until_ns;	 /* monotonic: then `old` ends */
	struct sensor *old_next; /* in the list of those whose `old` will end */
	bool old_listed;

	struct message_limit ration; /* session_receive.c */
	struct message_skips skips;
	unsigned int unacked; /* datagrams heard since the last ACK */
	struct skew skew;     /* messages.c: what was said of its clock */
};

/* There is room for sessions from now on. Returns 0 or -ENOMEM. */
int network_sensor_sessions(struct sensor *s);
/* Returns 0 or -ENOMEM. */
int network_sensor_new(struct sensor *s);
void network_sensor_free(struct sensor *s); /* takes one that has none; its sessions have ended */

/* The session that the sensor sends in; NULL: none. */
static inline struct session *sensor_session(const struct sensor *s)
{
	struct network_sensor *n = s->network;

	return n->current < 0 ? NULL : &n->sessions[n->current];
}

/* The session that it may send in next; NULL: none. */
static inline struct session *sensor_candidate(const struct sensor *s)
{
	struct network_sensor *n = s->network;

	return n->candidate < 0 ? NULL : &n->sessions[n->candidate];
}

#endif
