/* SPDX-License-Identifier: GPL-2.0 */
/* Bridges: a group for the radios of a sensor, whose clock has stamped all their frames (bridge.h).
 * In: the stamps of the frames that were swept in an epoch. Out: groups. */
#ifndef MERGE_CLOCK_BRIDGES_H
#define MERGE_CLOCK_BRIDGES_H

#include "epoch.h"

/* Takes what the bridges say of the epoch's middle. Returns 0 or -ENOMEM. */
int bridges_take(struct level *l, struct clocks *c, int64_t middle_ns);

#endif
