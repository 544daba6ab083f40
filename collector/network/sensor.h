/* SPDX-License-Identifier: GPL-2.0 */
/* Sensor: the room's own part of a sensor, sensor.network (collector/model/sensors.h). */
#ifndef COLLECTOR_NETWORK_SENSOR_H
#define COLLECTOR_NETWORK_SENSOR_H

#include <sodium.h>

#include "collector/model/rate_limit.h"
#include "collector/model/sensors.h"
#include "common/skew.h"
#include "message_limit.h"
#include "session.h"

#define SENSOR_SESSIONS 3

/* Sensor and collector may each have two keys while one of them is changed, so a sensor has up to
 * four pairs of keys. A pair's number has two bits: */
enum {
	SENSOR_PAIR_OLD = 1,  /* of the collector's second key */
	SENSOR_PAIR_NEXT = 2, /* of the sensor's next key */
	SENSOR_PAIRS = 4,
};

/* The owner of an address in the table: the sensor's index, and its slots, one of its sessions, or
 * one of its public keys (handshake_requests.c). */
enum sensor_kind {
	SENSOR_SLOTS = 0,			       /* of pair 0 */
	SENSOR_SESSION = 1,			       /* and the next SENSOR_SESSIONS - 1 */
	SENSOR_KEY = SENSOR_SESSION + SENSOR_SESSIONS, /* plus a pair's number: its slots */
	SENSOR_KINDS = 8,
};
#define SENSOR_SLOTS_OF(pair) ((pair) ? SENSOR_KEY + (pair) : SENSOR_SLOTS)
#define SENSOR_KIND_PAIR(kind) ((kind) > SENSOR_KEY ? (kind)-SENSOR_KEY : 0)
_Static_assert(SENSOR_SLOTS_OF(SENSOR_PAIRS - 1) < SENSOR_KINDS, "a kind each");
#define SENSOR_OWNER(index, kind) (((uint32_t)(index) + 1) * SENSOR_KINDS + (kind))
#define SENSOR_OWNER_INDEX(owner) ((owner) / SENSOR_KINDS - 1)
#define SENSOR_OWNER_KIND(owner) ((owner) % SENSOR_KINDS)

/* What a pair of keys gives: the shared secret P, and its slots. */
struct sensor_pair {
	uint8_t shared[KEY_LEN]; /* zeros: no such pair */
	uint64_t slots_of;	 /* the table has this interval's slots, and both neighbours' */
	uint32_t spent[3];	 /* at i % 3: bitmap of interval i's slots outside the table */
};

/* While there are second keys. */
struct sensor_second {
	struct sensor_pair pairs[SENSOR_PAIRS - 1]; /* from number 1 on */
	uint64_t key_word;			    /* of the sensor's next key; 0: none */
};

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
	struct sensor_pair pair;      /* number 0 */
	struct sensor_second *second; /* NULL: no second keys */
	bool next_logged;	      /* that it uses its next key */
	bool knows_key, keys_ordered; /* key_orders.c: the collector's first one; an order waits */
	uint8_t version;	      /* protocol version of its last m1 */

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
/* Allocates the second pairs, unless that was done. Returns 0 or -ENOMEM. */
int sensor_second_make(struct sensor *s);
void sensor_second_free(struct sensor *s); /* wipes them */

/* Returns the pair of this number. From 1 on, the sensor must have second keys. */
static inline struct sensor_pair *sensor_pair(const struct sensor *s, unsigned int number)
{
	return number ? &s->network->second->pairs[number - 1] : &s->network->pair;
}

/* Whether the sensor has the pair. */
static inline bool sensor_has_pair(const struct sensor *s, unsigned int number)
{
	return (!number || s->network->second) &&
	       !sodium_is_zero(sensor_pair(s, number)->shared, KEY_LEN);
}

/* Returns the sensor's public key in a pair. */
static inline const uint8_t *sensor_pair_key(const struct sensor *s, unsigned int number)
{
	return number & SENSOR_PAIR_NEXT ? s->next : s->public;
}

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
