/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forward: a sensor that was started again forwards what an earlier process of it had put into a
 * file and nobody has got since. In: records in the place of combos. Out: the combos, which are
 * then as any others. Mirror of agent/export/forward.h; what the set-up says is
 * handshake_forward.h's.
 */
#ifndef COLLECTOR_COMBO_FORWARD_H
#define COLLECTOR_COMBO_FORWARD_H

#include <stddef.h>
#include <stdint.h>

#include "wire/keys.h"

struct sensor;

/* What a sensor's present session forwards. */
struct forward {
	uint64_t id; /* 0: nothing, its messages are of a run that goes on */
	uint8_t key[KEY_LEN];
};

/* The combo of a record of `*len` bytes, in `out` (SPOOL_RECORD_MAX), with its own length, or NULL.
 */
const uint8_t *forward_open(const struct forward *f, uint8_t *out, size_t *len,
			    const struct sensor *s, uint64_t count, const uint8_t *record);

#endif
