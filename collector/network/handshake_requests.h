/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake requests: datagrams under unknown addresses (wire/request.h). In: requests for the time
 * and a cookie, set-ups under a cookie. Out: their kind and their sensor. The only state of a
 * request is a hash, so that a replay costs no Diffie-Hellman. Replays that are older than this
 * memory are recognized by their date. Requests without a date have lower limits, so that replays
 * of them delay only sensors without a clock.
 *
 * A cookie is derived from a secret of this process, the sensor's public key, its number of set-ups
 * under cookies, and the time. It expires once the sensor uses a cookie, or after one to two times
 * HANDSHAKE_REQUESTS_COOKIE_NS, so a replayed set-up has no effect.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_REQUESTS_H
#define COLLECTOR_NETWORK_HANDSHAKE_REQUESTS_H

#include "datagram.h"
#include "handshake_replays.h"
#include "handshake_slots.h"
#include "collector/model/sensors.h"
#include "wire/request.h"
#include "collector/model/rate_limit.h"

#define HANDSHAKE_REQUESTS_OPENED_A_SECOND 2000	  /* each takes about 0.1 ms of Diffie-Hellman */
#define HANDSHAKE_REQUESTS_UNDATED 1000		  /* undated ones, including old replays */
#define HANDSHAKE_REQUESTS_OF_STRANGERS 200	  /* answered per second */
#define HANDSHAKE_REQUESTS_OF_A_SENSOR 32	  /* per second */
#define HANDSHAKE_REQUESTS_OF_A_SENSOR_UNDATED 16 /* undated ones among these */
#define HANDSHAKE_REQUESTS_COOKIE_NS 8000000000ULL

struct handshake_requests {
	const struct handshake *handshake; /* the collector's keys */
	const struct table *table;	   /* also has the addresses of public keys */
	const struct sensors *sensors;
	struct request_keys keys[2];
	uint8_t secret[KEY_LEN];
	struct rate_limit opened, undated, strangers;
	struct replays seen;
};

enum handshake_requests_result {
	HANDSHAKE_REQUESTS_NONE,     /* not a request, or not authentic */
	HANDSHAKE_REQUESTS_REPEATED, /* seen before */
	HANDSHAKE_REQUESTS_LIMITED,  /* over a limit of this second */
	HANDSHAKE_REQUESTS_VERSION,  /* another protocol version */
	HANDSHAKE_REQUESTS_UNLISTED, /* its key is not in the sensors file; may be answered */
	HANDSHAKE_REQUESTS_UNPROVED, /* names a sensor without knowing its P; may be answered */
	HANDSHAKE_REQUESTS_COOKIE,   /* a sensor's request for the time and a cookie */
	HANDSHAKE_REQUESTS_STALE,    /* a set-up under an invalid or expired cookie */
	HANDSHAKE_REQUESTS_SET_UP,   /* an m1 under a valid cookie; it proves its own sensor */
};

/* The caller sets `handshake`, `table` and `sensors`, and zeroes the rest. */
void handshake_requests_init(struct handshake_requests *r);
/* Add or remove a listed sensor's keys. Adding returns 0 or -ENOMEM. */
int handshake_requests_add(const struct handshake_requests *r, struct table *t, struct sensor *s);
void handshake_requests_remove(struct table *t, const struct sensor *s);
/* Takes a datagram whose address is not in the table, in the current `interval`. Sets `q` to its
 * content and `*s` to its sensor, NULL: not listed. The caller wipes `q`, except after NONE,
 * REPEATED or LIMITED. */
enum handshake_requests_result handshake_requests_take(struct handshake_requests *r,
						       const struct datagram *d, uint64_t interval,
						       struct request *q, struct sensor **s);
/* Counts a request that proves no sensor. Returns whether it may be answered in this second. */
bool handshake_requests_answers_stranger(struct handshake_requests *r, uint64_t now_ns);
/* Returns a cookie for the sensor. Only a request that proves its sensor may get it: each set-up
 * with a valid cookie counts against the sensor's limit. */
uint64_t handshake_requests_cookie(const struct handshake_requests *r, const struct request *q,
				   const struct sensor *s, uint64_t now_ns);

#endif
