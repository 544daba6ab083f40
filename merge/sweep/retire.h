/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Retire: a sensor's run and a reset TSFT begin another domain. The merge gives a domain back
 * when its radios have left it, all its receptions are swept, and open transmissions, the epoch,
 * references that others may still hear, and the table of clocks are done with it.
 */
#ifndef MERGE_SWEEP_RETIRE_H
#define MERGE_SWEEP_RETIRE_H

#include "state.h"

/* Looks at domains if more of them wait for it. */
void retire(struct merge *m);

#endif
