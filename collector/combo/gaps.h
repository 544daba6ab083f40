/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gaps: combos that will not come. In: FLOORs. Out: the next combo that is whole; combos that are
 * missing, counted in the ledger when all before them are taken.
 */
#ifndef COLLECTOR_COMBO_GAPS_H
#define COLLECTOR_COMBO_GAPS_H

#include <stddef.h>
#include <stdint.h>

struct combos;
struct ledger;
struct sensor;

/* What is missing below `combo` will not come, and there were `first` frames of the run before it.
 * `gone` counts those that are missing: ledger_floor or ledger_gone. Then turns_ready is to be
 * called. */
void gaps_floor(struct sensor *s, uint64_t combo, uint64_t first,
		int (*gone)(struct ledger *, uint64_t));
/* Nothing else will come of the present run: what is whole is to be taken, whatever is missing.
 * Then turns_ready is to be called. */
void gaps_rest(struct sensor *s);
/* The next combo that is due, where it is whole, with its length and count; NULL: none is. */
const uint8_t *gaps_whole(struct combos *c, struct sensor *s, size_t *len, uint64_t *count);
/* Combos below `next` are written or lost. */
void gaps_passed(struct combos *c, struct sensor *s, uint64_t next);

#endif
