/* SPDX-License-Identifier: GPL-2.0 */
/* Anchor: frames that several have heard say how sensors' clocks are to one another, and not what
 * time it is. That is the collector's clock's, as the sensors have measured it: all clocks of a
 * part follow it together, slowly, so that this does not change how they are to one another. */
#ifndef MERGE_CLOCK_ANCHOR_H
#define MERGE_CLOCK_ANCHOR_H

#include "clocks.h"

/* Sets the clocks of the parts from this one on: before the first sweep. */
void anchor_set(struct clocks *c, uint32_t from);
/* Steers the clocks of all parts for the next epoch. */
void anchor_steer(struct clocks *c, int64_t unified_ns);

#endif
