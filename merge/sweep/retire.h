/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Retire: a sensor's run and a reset TSFT begin another domain. A domain that no radio refers to
 * any more is given back when all its receptions are swept, and nothing has it any more: no open
 * transmission, no epoch, no reference that can still be heard by others, and no table.
 */
#ifndef MERGE_SWEEP_RETIRE_H
#define MERGE_SWEEP_RETIRE_H

#include "state.h"

/* Looks at domains if more of them wait for it. */
void retire(struct merge *m);

#endif
