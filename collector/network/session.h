/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Session: the collector's session with a sensor: its keys, and the sensor's address. Mirror of
 * agent/export/session.h. A sensor has up to three: the current one; the candidate of a set-up or
 * renewal, which no datagram has used yet; and the old one. The old one is kept for some time for
 * datagrams in flight.
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

#define SESSION_WINDOW 4096 /* the most addresses ahead for a sensor */

struct session_address {
	socklen_t len; /* 0: none */
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	};
};

struct session {
	struct shroud_rx rx; /* owner 0: no session */
	uint64_t run;
	uint64_t spool; /* id of the forwarded spool: forward.h; 0: the sensor's current run */
	uint64_t heard; /* highest of our numbers that the sensor received */
	bool padded, renewed;
	uint8_t pair; /* number of the pair of keys that set it up */
	bool no_acks; /* one-way: nothing is sent to the sensor; its E_s is in `renew` */
	/* The sensor's address. Until it is confirmed, at most `credit` bytes are sent there. */
	bool confirmed;
	struct session_address address;
	struct shroud_tx tx;
	/* Combos and their ACKs use what is above. */

	uint64_t credit, cookie, challenged_ns;
	uint8_t chain[KEY_LEN];
	uint64_t hello_ns; /* sensor's protocol time in its m1; a renewal copies it */
	uint64_t made_ns;  /* monotonic */
	uint8_t instance[TRYST_INSTANCE_LEN]; /* identifies the sensor's machine and boot */
	uint8_t renew[MESSAGE_RENEWED_LEN];   /* of a renewed session: its RENEWED */
	struct sensor_info info;	      /* of a candidate by set-up */
};

/* Derives the keys from the root `k2`, which it wipes. Returns 0 or -ENOMEM. */
int session_make(struct session *s, struct table *t, uint8_t k2[KEY_LEN], uint32_t owner,
		 uint32_t window, uint64_t now_ns);
/* Removes the session's addresses from the table and wipes its keys. Does nothing for a zeroed
 * session. */
void session_end(struct session *s, struct table *t);

void session_address(struct session_address *a, const struct sockaddr *from, socklen_t len);
/* Takes the source address of an authentic datagram of `len` bytes, which is the newest. Returns
 * whether the session moved to another address. */
bool session_follow(struct session *s, const struct session_address *from, size_t len);
/* Takes an ECHO. Confirms the address if the cookie is right. */
void session_echo(struct session *s, uint64_t cookie);

/* Seals a message into `out` (SHROUD_DATAGRAM_MAX bytes). Returns the length of the datagram, which
 * the caller sends to `address`. 0: the sensor must send more before it may be sent. */
size_t session_seal(struct session *s, uint8_t *out, const uint8_t *message, size_t len);

#endif
