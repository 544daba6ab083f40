/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A session with a sensor at the collector: its keys, and where the sensor is. Mirror of
 * agent/export/session.h. A sensor has up to three: the present one, the candidate that a set-up or
 * renewal has made and no datagram has used, and the old one, opened for a while for what is under
 * way.
 */
#ifndef COLLECTOR_NETWORK_SESSION_H
#define COLLECTOR_NETWORK_SESSION_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "collector/model/sensors.h"
#include "wire/message.h"
#include "wire/shroud.h"
#include "wire/table.h"
#include "wire/tryst.h"

#define SESSION_WINDOW 4096 /* addresses ahead that a sensor gets at most */

struct session_address {
	socklen_t len; /* 0: none */
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
};

struct session {
	struct shroud_rx rx; /* its owner is 0 where there is no session */
	struct shroud_tx tx;
	uint8_t chain[KEY_LEN];
	uint64_t run;
	uint64_t hello_ns; /* protocol time of the sensor's, in its m1, or of what was renewed */
	uint64_t made_ns;  /* monotonic */
	uint64_t heard;	   /* highest of our datagrams that the sensor has heard of */
	uint8_t instance[TRYST_INSTANCE_LEN]; /* which machine the sensor is on, since its start */
	uint64_t spool; /* what it forwards: forward.h; 0: its sensor's present run */
	bool padded, renewed;
	bool one_way; /* nothing goes to the sensor, and its E_s is in `renew` */
	/* Where the sensor is. Until that is confirmed, no more than `credit` bytes go there. */
	struct session_address address;
	bool confirmed;
	uint64_t credit, cookie, challenged_ns;
	uint8_t renew[MESSAGE_RENEWED_LEN]; /* of a renewed session: its RENEWED */
	struct sensor_info info;	    /* of a candidate by set-up */
};

/* Keys of the root `k2`, which is wiped. Returns 0 or -ENOMEM. */
int session_make(struct session *s, struct table *t, uint8_t k2[KEY_LEN], uint32_t owner,
		 uint32_t window, uint64_t now_ns);
/* No address of it is known any more, its keys are wiped. Takes a zeroed one. */
void session_end(struct session *s, struct table *t);

void session_address(struct session_address *a, const struct sockaddr *from, socklen_t len);
/* An authentic datagram of `len` bytes, the newest, came from there. Returns whether the session
 * has moved. */
bool session_follow(struct session *s, const struct session_address *from, size_t len);
/* ECHO: the address is confirmed where the cookie is right. */
void session_echo(struct session *s, uint64_t cookie);

/* Seals a message into `out` (SHROUD_DATAGRAM_MAX). Returns the datagram's bytes, which are to go
 * to `address`, or 0 where it may not be sent yet: the sensor must be heard first. */
size_t session_seal(struct session *s, uint8_t *out, const uint8_t *message, size_t len);

#endif
