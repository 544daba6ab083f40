/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Solve: the least squares of level.h. In: an epoch's groups. Out: by slot, the correction X and
 * its VARIANCE in ns^2, which is 0 if the domain is in no group. The clocks are moved to the mean
 * times of their members, to which X belongs.
 */
#ifndef MERGE_CLOCK_SOLVE_H
#define MERGE_CLOCK_SOLVE_H

#include "epoch.h"

void solve_epoch(struct level *l, struct clocks *c);

#endif
