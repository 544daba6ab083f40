/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forward: opens records of a spool, which a restarted sensor forwards: an earlier process had
 * stored combos that no collector received. In: records in place of combos. Out: the combos, which
 * are then handled like all others. Mirror of agent/export/forward.h; handshake_forward.h reads the
 * set-up.
 */
#ifndef COLLECTOR_COMBO_FORWARD_H
#define COLLECTOR_COMBO_FORWARD_H

#include <stddef.h>
#include <stdint.h>

#include "wire/keys.h"

struct sensor;

/* The spool that a sensor's current session forwards. */
struct forward {
	uint64_t id; /* 0: none, the messages belong to the ongoing run */
	uint8_t key[KEY_LEN];
};

/* Opens a record of `*len` bytes into `out` (SPOOL_RECORD_MAX bytes). Returns the combo and sets
 * `*len` to its length, or returns NULL. */
const uint8_t *forward_open(const struct forward *f, uint8_t *out, size_t *len,
			    const struct sensor *s, uint64_t count, const uint8_t *record);

#endif
