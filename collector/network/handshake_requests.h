/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests at the collector: datagrams under no address that is known (wire/request.h). In:
 * requests for the time and a cookie, set-ups under a cookie. Out: what each is, and whose. Nothing
 * is kept for a request but that it was seen, so that one that is sent again costs no
 * Diffie-Hellman. Recordings that are older than this memory are recognized by their date; requests
 * without a date have limits of their own, so that recordings of them cost only sensors that do not
 * know the time.
 *
 * A cookie is derived from a secret of this process, the sensor's public key, the number of set-ups
 * that this sensor made under cookies, and the time. It expires when the sensor has used a cookie,
 * or after HANDSHAKE_REQUESTS_COOKIE_NS to twice that: a set-up that is sent again changes nothing.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_REQUESTS_H
#define COLLECTOR_NETWORK_HANDSHAKE_REQUESTS_H

#include "datagram.h"
#include "handshake_replays.h"
#include "collector/model/sensors.h"
#include "wire/request.h"
#include "collector/model/rate_limit.h"

#define HANDSHAKE_REQUESTS_OPENED_A_SECOND 2000 /* each takes some 0.1 ms of Diffie-Hellman */
#define HANDSHAKE_REQUESTS_UNDATED                                                                 \
	1000 /* of those a second, at most: old recordings are among them */
#define HANDSHAKE_REQUESTS_OF_STRANGERS 200	  /* of those a second are answered */
#define HANDSHAKE_REQUESTS_OF_A_SENSOR 32	  /* a second */
#define HANDSHAKE_REQUESTS_OF_A_SENSOR_UNDATED 16 /* of those at most */
#define HANDSHAKE_REQUESTS_COOKIE_NS 8000000000ULL

struct handshake_requests {
	const struct keypair *own;
	const struct table *table; /* where public keys are */
	const struct sensors *sensors;
	struct request_keys keys;
	uint8_t secret[KEY_LEN];
	struct rate_limit opened, undated, strangers;
	struct replays seen;
};

enum handshake_requests_result {
	HANDSHAKE_REQUESTS_NONE,     /* none, or not authentic */
	HANDSHAKE_REQUESTS_REPEATED, /* was seen before */
	HANDSHAKE_REQUESTS_LIMITED,  /* too many in this second */
	HANDSHAKE_REQUESTS_VERSION,  /* of another version of the protocol */
	HANDSHAKE_REQUESTS_UNLISTED, /* of a key that is not in the sensors file; it may be answered
				      */
	HANDSHAKE_REQUESTS_UNPROVED, /* names a sensor, and does not know P; it may be answered */
	HANDSHAKE_REQUESTS_COOKIE,   /* of the sensor, which asks for the time and a cookie */
	HANDSHAKE_REQUESTS_STALE,    /* a set-up under a cookie that is none, or too old */
	HANDSHAKE_REQUESTS_SET_UP,   /* an m1 under a good cookie; it proves its sensor itself */
};

/* `own`, `table` and `sensors` are set, the rest is zeroed. */
void handshake_requests_init(struct handshake_requests *r);
/* A sensor is listed, or not any more. Returns 0 or -ENOMEM. */
int handshake_requests_add(const struct handshake_requests *r, struct table *t, struct sensor *s);
void handshake_requests_remove(struct table *t, const struct sensor *s);
/* Takes a datagram that the table knows nothing of; `interval` is the present one. `q` is what it
 * says, `*whose` the sensor that it names, NULL: none that is listed. The caller wipes `q`. */
enum handshake_requests_result handshake_requests_take(struct handshake_requests *r,
						       const struct datagram *d, uint64_t interval,
						       struct request *q, struct sensor **whose);
/* Whether one more request that proves no sensor is answered in this second. */
bool handshake_requests_answers_stranger(struct handshake_requests *r, uint64_t now_ns);
/* A cookie for the sensor. Only a request that proves to be the sensor's may be told it: whoever
 * has a good cookie uses the sensor's ration. */
uint64_t handshake_requests_cookie(const struct handshake_requests *r, const struct sensor *s,
				   uint64_t now_ns);

#endif
