/* SPDX-License-Identifier: GPL-2.0 */
/* Left: which transmissions are left to other mergers. In: the slice, and the floors of sensors.
 * Out: the same answer in each merger that has taken the same receptions. */
#ifndef MERGE_INPUT_LEFT_H
#define MERGE_INPUT_LEFT_H

#include "merge/model/slice.h"
#include "merge/model/transmission.h"
#include "sensors.h"

/* The floor of the strongest reception whose sensor has one; the lower of two. Receptions with a
 * wrong FCS do not count if there are others. */
struct slice_floor left_floor(const struct sensors *s, const struct transmission *t);
bool left_to_others(const struct sensors *s, const struct transmission *t);

#endif
