/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gaps: skips combos that will not arrive. In: FLOORs. Out: the next complete combo; missing
 * combos, counted in the ledger once all combos before them are taken.
 */
#ifndef COLLECTOR_COMBO_GAPS_H
#define COLLECTOR_COMBO_GAPS_H

#include <stddef.h>
#include <stdint.h>

struct combos;
struct ledger;
struct sensor;

/* Gives up missing combos below `combo`, before which the run had `first` frames. `gone`,
 * ledger_floor or ledger_gone, counts the missing frames. The caller then calls turns_ready. */
void gaps_floor(struct sensor *s, uint64_t combo, uint64_t first,
		int (*gone)(struct ledger *, uint64_t));
/* Ends the current run's reception: complete combos are taken across gaps. The caller then calls
 * turns_ready. */
void gaps_rest(struct sensor *s);
/* Returns the combo that is due next, with its length and count, or NULL until it is complete. */
const uint8_t *gaps_whole(struct combos *c, struct sensor *s, size_t *len, uint64_t *count);
/* Marks combos below `next` as passed: written or lost. */
void gaps_passed(struct combos *c, struct sensor *s, uint64_t next);

#endif
