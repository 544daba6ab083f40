/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forward: a sensor that was started again forwards what an earlier process of it had put into a
 * file and nobody has got since. In: a set-up that says so, records in the place of combos. Out:
 * the combos, which are then as any others. Mirror of agent/export/forward.h.
 */
#ifndef COLLECTOR_COMBO_FORWARD_H
#define COLLECTOR_COMBO_FORWARD_H

#include <stddef.h>
#include <stdint.h>

#include "collector/network/session.h"
#include "wire/keys.h"
#include "wire/tryst.h"

struct sensor;

/* What a sensor's present session forwards. */
struct forward {
	uint64_t id; /* 0: nothing, its messages are of a run that goes on */
	uint8_t key[KEY_LEN];
};

/* What a set-up is to forward: its id, or 0 where that is nothing or its key does not open. */
uint64_t forward_agree(const struct keypair *own, const uint8_t pair[KEY_LEN],
		       const struct tryst_hello *hello);
/* A session by set-up becomes the present one. Its info begins with the spool's key, where it has
 * one. */
void forward_begin(struct forward *f, const struct keypair *own, const uint8_t pair[KEY_LEN],
		   const struct session *session);
/* The combo of a record of `*len` bytes, in `out` (SPOOL_RECORD_MAX), with its own length, or NULL.
 */
const uint8_t *forward_open(const struct forward *f, uint8_t *out, size_t *len,
			    const struct sensor *s, uint64_t count, const uint8_t *record);

#endif
