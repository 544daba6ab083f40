/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake slots: the addresses under which sensors may set sessions up (docs/wire.md). In:
 * sensors that come and go, time. Out: the slots of all listed sensors in the table, those of the
 * present interval and both neighbours. A slot that was used is spent.
 *
 * Protocol time is the machine's, but that it never goes back: where the clock was set back it
 * passes at half its speed until it is reached again. So slots that were spent do not come back,
 * and a clock that was years ahead for a moment leaves no sensor without slots for years.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_SLOTS_H
#define COLLECTOR_NETWORK_HANDSHAKE_SLOTS_H

#include "collector/model/rate_limit.h"
#include "collector/model/sensors.h"
#include "wire/table.h"
#include "wire/tryst.h"

#define HANDSHAKE_TURN_BATCH 64 /* sensors whose slots are changed at a time */

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

/* `own` is to be there. `floor_ns` is the latest protocol time of earlier collectors
 * (state.h), or 0. */
void handshake_init(struct handshake *m, uint64_t floor_ns);
/* Protocol time, ns. */
uint64_t handshake_time(struct handshake *m);
/* The sensor is new or has another key. Returns 0, or -EINVAL where its key is none. */
int handshake_add(struct handshake *m, struct table *t, struct sensor *s);
void handshake_remove(struct table *t, struct sensor *s);
/* Turns some sensors' slots to the present interval. Returns whether there are more to be. */
bool handshake_turn(struct handshake *m, struct table *t, struct sensors *list);
/* The slot at `address`, which the table has under `low`, is good for no other set-up. */
void handshake_spend(struct table *t, struct sensor *s, uint64_t address, uint32_t low);

#endif
