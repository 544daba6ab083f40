/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Split: combos become frames. In: pieces, FLOORs. Out: frames and events, to output.h; what the
 * ledger says.
 */
#ifndef COLLECTOR_COMBO_SPLIT_H
#define COLLECTOR_COMBO_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct combos;
struct ledger;
struct sensor;

enum split_result {
	SPLIT_NONE,  /* no combo is due that is whole */
	SPLIT_TAKEN, /* one was taken; there may be more */
	SPLIT_HELD,  /* one is due, and must wait for the disk */
};

/* Takes a piece. Returns whether it is kept, so that it is acknowledged. */
bool split_piece(struct combos *c, struct sensor *s, const uint8_t *message, size_t len,
		 uint64_t now_ns);
/* FLOOR: what is missing below `combo` will not come, and there were `first` frames of the run
 * before it. */
void split_floor(struct combos *c, struct sensor *s, uint64_t combo, uint64_t first,
		 uint64_t now_ns);
/* Takes the next combo of a sensor, or begins the run that waited for its last one (turns.h). */
enum split_result split_next(struct combos *c, struct sensor *s, uint64_t now_ns);

/* ---- for runs.c and one_way.c ---------------------------------------------------------------- */

/* What is missing below `combo` will not come, and there were `first` frames of the run before it:
 * the others are taken. `gone` counts those that are missing: ledger_floor or ledger_gone. */
void split_past(struct combos *c, struct sensor *s, uint64_t combo, uint64_t first,
		int (*gone)(struct ledger *, uint64_t));
/* Nothing else will come of the present run: what is whole is to be taken, whatever is missing. */
void split_rest(struct combos *c, struct sensor *s);
/* The next combo that is due, where it is whole, with its length and count; NULL: none is. */
const uint8_t *split_whole(struct combos *c, struct sensor *s, size_t *len, uint64_t *count);

#endif
