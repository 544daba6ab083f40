/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arrive: what a new reception tells of clocks, before it is swept. If it is a reference, a
 * transmission that is unique for long, it finds clocks and steps, or says that two parts are one.
 */
#ifndef MERGE_CLOCK_ARRIVE_H
#define MERGE_CLOCK_ARRIVE_H

#include "clocks.h"

/* Takes the newest reception in the domain's queue. Returns whether the one before it has changed.
 */
bool arrive(struct clocks *c, struct domain *d);

#endif
