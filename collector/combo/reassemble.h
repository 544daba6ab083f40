/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pieces become combos again, in the order in which the sensor numbered them, each once. Pieces
 * may be cut in any way, come in any order and twice. What is missing is waited for until it comes
 * or the sensor says that it will not (FLOOR): nothing times out. Combos above the one due next are
 * held in a pool that all sensors share; what it has no room for is refused, and must then not be
 * acknowledged. An idle sensor has no memory but struct reassembly.
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
	REASSEMBLE_DUPLICATE, /* its bytes are here already, or its combo is past */
	REASSEMBLE_REFUSED,   /* no room for it now, or too far ahead: not to be acknowledged */
	REASSEMBLE_BAD,	      /* larger than a combo can be */
};

/* Takes one piece. Then reassemble_take is to be called until it returns NULL. */
enum reassemble_result reassemble_add(struct reassembly *r, struct reassemble_pool *pool,
				      const struct piece *p, uint64_t now_ns);
/* Returns the next combo in order with its length and count, NULL where it is not complete. Passes
 * over what is missing below the floor. Valid until reassemble_done. */
const uint8_t *reassemble_take(struct reassembly *r, struct reassemble_pool *pool, size_t *len,
			       uint64_t *count);
void reassemble_done(struct reassembly *r, struct reassemble_pool *pool);
/* What is missing below `combo` will not come. Then reassemble_take is to be called until it
 * returns NULL; `next` is at least `combo` after that. */
void reassemble_floor(struct reassembly *r, uint64_t combo);
/* Moves the floor so that this piece's combo is one of the `ahead` from there on. */
void reassemble_reach(struct reassembly *r, const struct piece *p, uint64_t ahead);
/* Whether a piece's combo is too far ahead to be kept. */
bool reassemble_is_beyond(const struct reassembly *r, const struct piece *p);
/* Bit n: combo next + 1 + n is here whole. */
uint64_t reassemble_held(const struct reassembly *r);
/* The run goes on in a session of another set-up: combos that are not whole come again from their
 * start, and may be laid out otherwise. Not at a renewal. */
void reassemble_resume(struct reassembly *r, struct reassemble_pool *pool);
/* Forgets everything: a run begins, or goes on with combo `next`. */
void reassemble_start(struct reassembly *r, struct reassemble_pool *pool, uint64_t next);
void reassemble_free(struct reassembly *r, struct reassemble_pool *pool);

#endif
