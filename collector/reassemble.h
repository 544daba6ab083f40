/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pieces become combos again, in the order in which the sensor numbered them. A few combos may
 * be under way at once (datagrams overtake one another); what is missing REASSEMBLE_WAIT_NS after
 * a later combo is whole, or REASSEMBLE_SLOTS combos later, is passed over. How many frames that
 * were, the next combo tells (ledger.h). A number that has come out, or was passed over, does not
 * come out again, whatever its combo holds.
 */
#ifndef COLLECTOR_REASSEMBLE_H
#define COLLECTOR_REASSEMBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/piece.h"

#define REASSEMBLE_SLOTS 64 /* 50 ms of reordering at 1,000 combos a second */
#define REASSEMBLE_WAIT_NS 250000000ULL

struct reassembly_slot {
	uint8_t *data; /* NULL: nothing of this combo has come */
	uint32_t total, got;
	uint32_t have; /* a bit a piece */
};

struct reassembly {
	bool started;
	uint64_t next;	    /* number of the combo due next */
	unsigned int held;  /* slots in use */
	unsigned int whole; /* of them, that nothing is missing of */
	struct reassembly_slot slots[REASSEMBLE_SLOTS];
	uint64_t waiting_since_ns; /* a later combo is whole, `next` is not; 0: not so */
};

enum reassemble_result {
	REASSEMBLE_TAKEN,
	REASSEMBLE_FULL,      /* take what is complete, then add it again */
	REASSEMBLE_DUPLICATE, /* had it, or its combo is past */
	REASSEMBLE_BAD,	      /* contradicts another piece, or larger than a combo can be */
};

/* Takes one piece. Then reassemble_take is to be called until it returns NULL. */
enum reassemble_result reassemble_add(struct reassembly *r, const struct piece *p, uint64_t now_ns);
/* Returns the next combo in order and its length, NULL where it is not complete. `number` is its
 * place. Valid until reassemble_done. */
const uint8_t *reassemble_take(struct reassembly *r, size_t *len, uint64_t *number);
void reassemble_done(struct reassembly *r);
/* Passes over what has been missing for too long; with `all`, whatever is missing. Returns
 * whether reassemble_take has more now. */
bool reassemble_tick(struct reassembly *r, uint64_t now_ns, bool all);
/* The run goes on in another session: combos that are not whole come again from their start, and
 * may be laid out otherwise. */
void reassemble_resume(struct reassembly *r);
/* Forgets everything: a new run begins. */
void reassemble_reset(struct reassembly *r);
void reassemble_free(struct reassembly *r);

#endif
