/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handshake slots: the addresses for session set-ups (docs/wire.md). In: added and removed sensors,
 * time. Out: the slots of all listed sensors in the table, for the current interval and its two
 * neighbours. Each slot is used once, then it is spent.
 *
 * Protocol time is the machine's time, but never goes back: after the clock is set back, protocol
 * time advances at half speed until the clock catches up. So spent slots stay spent, and a clock
 * that was briefly years ahead does not leave sensors without slots for years.
 */
#ifndef COLLECTOR_NETWORK_HANDSHAKE_SLOTS_H
#define COLLECTOR_NETWORK_HANDSHAKE_SLOTS_H

#include "collector/model/rate_limit.h"
#include "collector/model/sensors.h"
#include "wire/table.h"
#include "wire/tryst.h"

#define HANDSHAKE_TURN_BATCH 64 /* sensors per call of handshake_turn */

struct handshake {
	struct keypair
		own[2]; /* sensors may use either; the second, with `two_keys`, is the old one */
	bool two_keys;
	uint64_t (*clock)(void);     /* ns since 1970; NULL: the machine's clock */
	uint64_t (*monotonic)(void); /* ns; NULL: the machine's clock */
	uint64_t latest_ns;	     /* latest protocol time */
	uint64_t begun_ns;	     /* protocol time at the start */
	uint64_t read_ns;	     /* monotonic time of `latest_ns`; 0: none */
	uint64_t interval;	     /* to which the slots are being turned */
	unsigned int turned;	     /* sensors of the list already turned */
	struct rate_limit inits;
};

/* The caller sets `own` and `two_keys`. `floor_ns` is the latest protocol time of earlier
 * collectors (state.h), or 0. */
void handshake_init(struct handshake *m, uint64_t floor_ns);
/* Returns the protocol time in ns. */
uint64_t handshake_time(struct handshake *m);
/* Adds a sensor that is new or has a new key. Returns 0; -EINVAL if its key is invalid; or, if it
 * lacks only the pairs of second keys, -ENOMEM or -ENOKEY: its next key is invalid. */
int handshake_add(struct handshake *m, struct table *t, struct sensor *s);
void handshake_remove(struct table *t, struct sensor *s);
/* Turns a batch of sensors' slots to the current interval. Returns whether more sensors remain. */
bool handshake_turn(struct handshake *m, struct table *t, struct sensors *list);
/* Marks the pair's slot at `address`, `low` in the table, as spent. */
void handshake_spend(struct table *t, struct sensor *s, unsigned int pair, uint64_t address,
		     uint32_t low);

#endif
