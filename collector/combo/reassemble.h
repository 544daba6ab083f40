/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reassemble: reassembles combos from pieces, in the order of their counts, each one once. Pieces
 * may be split at any units, and arrive in any order and more than once. A missing piece has no
 * time-out: it arrives, or the sensor gives it up (FLOOR). All sensors share one pool for combos
 * that are not taken yet. A piece without room in the pool is refused, and must not be
 * acknowledged. An idle sensor's only memory is struct reassembly.
 */
#ifndef COLLECTOR_COMBO_REASSEMBLE_H
#define COLLECTOR_COMBO_REASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reassemble_pool.h"
#include "wire/message.h"

enum reassemble_result {
	REASSEMBLE_TAKEN,
	REASSEMBLE_DUPLICATE, /* its bytes were received, or its combo was taken */
	REASSEMBLE_REFUSED,   /* no room now, or too far ahead: must not be acknowledged */
	REASSEMBLE_BAD,	      /* larger than any combo */
};

/* Takes one piece. The caller then calls reassemble_take until it returns NULL. */
enum reassemble_result reassemble_add(struct reassembly *r, struct reassemble_pool *pool,
				      const struct piece *p, uint64_t now_ns);
/* Returns the next combo with its length and count, NULL if it is incomplete. Skips missing combos
 * below the floor. The combo is valid until reassemble_done. */
const uint8_t *reassemble_take(struct reassembly *r, struct reassemble_pool *pool, size_t *len,
			       uint64_t *count);
void reassemble_done(struct reassembly *r, struct reassemble_pool *pool);
/* Gives up missing combos below `combo`. The caller then calls reassemble_take until it returns
 * NULL; after that `next` is at least `combo`. */
void reassemble_floor(struct reassembly *r, uint64_t combo);
/* Raises the floor, if needed, so that this piece's combo is among the first `ahead` from the
 * floor. */
void reassemble_reach(struct reassembly *r, const struct piece *p, uint64_t ahead);
/* Whether a piece's combo is too far ahead to be kept. */
bool reassemble_is_beyond(const struct reassembly *r, const struct piece *p);
/* Returns a bitmap. Bit n: combo next + 1 + n is complete. */
uint64_t reassemble_held(const struct reassembly *r);
/* Drops incomplete combos when the run continues in a session of another set-up: the sensor sends
 * them again from the start, perhaps encoded differently. Not for a renewal. */
void reassemble_resume(struct reassembly *r, struct reassemble_pool *pool);
/* Drops everything: a run starts, or continues with combo `next`. */
void reassemble_start(struct reassembly *r, struct reassemble_pool *pool, uint64_t next);
void reassemble_free(struct reassembly *r, struct reassemble_pool *pool);

#endif
