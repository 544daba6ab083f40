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

/* Missing combos below `combo` will not come. The run had `first` frames before it. `gone` counts
 * the missing ones: ledger_floor or ledger_gone. The caller then calls turns_ready. */
void gaps_floor(struct sensor *s, uint64_t combo, uint64_t first,
		int (*gone)(struct ledger *, uint64_t));
/* Nothing else will come of the present run: whole combos are taken, whatever is missing. The
 * caller then calls turns_ready. */
void gaps_rest(struct sensor *s);
/* Returns the next combo that is due, with its length and count, or NULL until it is whole. */
const uint8_t *gaps_whole(struct combos *c, struct sensor *s, size_t *len, uint64_t *count);
/* Combos below `next` are written or lost. */
void gaps_passed(struct combos *c, struct sensor *s, uint64_t next);

#endif
