/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake: Tryst at the collector (docs/wire.md). Keeps the slots of all sensors in the table,
 * those of the present interval and both neighbours; an authentic m1 spends its slot and is
 * answered, and so is one under a cookie (handshake_requests.h).
 *
 * Protocol time is the machine's, but that it never goes back: where the clock was set back it
 * passes at half its speed until it is reached again. So slots that were spent do not come back,
 * and a clock that was years ahead for a moment leaves no sensor without slots for years.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_H
#define COLLECTOR_NETWORK_HANDSHAKE_H

#include "collector/model/sensors.h"
#include "wire/tryst.h"
#include "collector/model/rate_limit.h"
#include "session.h"

#define HANDSHAKE_INITS_A_SECOND 2000 /* set-ups answered, each some 0.2 ms of Diffie-Hellman */
#define HANDSHAKE_TURN_BATCH 64	      /* sensors whose slots are changed at a time */
#define HANDSHAKE_CANDIDATE_NS 5000000000ULL
/* Another instance takes a sensor over when the present one has been silent for so long. */
#define HANDSHAKE_SILENT_NS 10000000000ULL

struct handshake {
	struct keypair own;
	uint64_t (*clock)(void);     /* ns since 1970; NULL: the machine's */
	uint64_t (*monotonic)(void); /* ns; NULL: the machine's */
	uint64_t latest_ns;	     /* protocol time has been here */
	uint64_t begun_ns;	     /* protocol time at the start */
	uint64_t read_ns;	     /* monotonic, when it was; 0: not yet */
	uint64_t interval;	     /* that the slots are being turned to */
	unsigned int turned;	     /* sensors of the list whose slots are */
	struct rate_limit inits;
};

enum handshake_result {
	HANDSHAKE_NONE,	   /* not authentic */
	HANDSHAKE_TAKEN,   /* there is an answer of `*out_len` bytes */
	HANDSHAKE_LIMITED, /* too many in this second */
	HANDSHAKE_IGNORED, /* authentic, spent and not answered: an older one than the last */
	HANDSHAKE_ONE_WAY, /* of a one-way session, which has been made or moved: nothing is
			      answered */
	HANDSHAKE_VERSION, /* authentic, spent and not answered: of another version of the protocol
			    */
	HANDSHAKE_BUSY,	   /* another instance is being heard: there is an answer that says so */
};

/* `own` is to be there. `floor_ns` is the latest protocol time of collectors before (state.h), 0:
 * none is known. */
void handshake_init(struct handshake *m, uint64_t floor_ns);
/* Protocol time, ns. */
uint64_t handshake_time(struct handshake *m);
/* The sensor is new or has another key. Returns 0, or -EINVAL where its key is none. */
int handshake_add(struct handshake *m, struct table *t, struct sensor *s);
void handshake_remove(struct table *t, struct sensor *s);
/* Turns some sensors' slots to the present interval. Returns whether there are more to be. */
bool handshake_turn(struct handshake *m, struct table *t, struct sensors *list);

/* Takes a datagram that the table has under `low` among a sensor's slots. With HANDSHAKE_TAKEN the
 * sensor has a candidate; with that and HANDSHAKE_BUSY `out` (SHROUD_DATAGRAM_MAX) goes to where it
 * came from. */
enum handshake_result handshake_take(struct handshake *m, struct table *t, struct sensor *s,
				     uint32_t low, uint8_t *out, size_t *out_len, const uint8_t *in,
				     size_t len, uint64_t now_ns);
/* Takes an m1 that came under a good cookie; otherwise as handshake_take. */
enum handshake_result handshake_take_fresh(struct handshake *m, struct table *t, struct sensor *s,
					   uint8_t *out, size_t *out_len, const uint8_t *in,
					   size_t len, uint64_t now_ns);
/* Takes a RENEW of the present session. Returns whether there is an answer: the candidate's
 * `renew`. */
bool handshake_renew(struct handshake *m, struct table *t, struct sensor *s, const uint8_t *message,
		     uint64_t now_ns);

#endif
