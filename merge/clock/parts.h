/* SPDX-License-Identifier: GPL-2.0 */
/* Parts: domains that share frames. In: that two parts share some after all. Out: one part. */
#ifndef MERGE_CLOCK_PARTS_H
#define MERGE_CLOCK_PARTS_H

#include "clocks.h"

/* A reference of the domain is one of another part, too. */
void parts_meet(struct clocks *c, struct domain *d, const struct reference *e, int64_t own_ns);
/* The smaller one of two parts becomes the other one's. The other's time is `distance_ns` more than
 * that of `part`. */
void parts_unite(struct clocks *c, uint32_t part, uint32_t other, int64_t distance_ns);
/* Sets each domain's `alone`. Returns 0 or -ENOMEM. */
int parts_find_alone(struct clocks *c);
/* Whether there are several parts, now. */
bool parts_are_several(const struct clocks *c);
/* Adds to the times of a part's references. */
void parts_shift_references(struct clocks *c, uint32_t part, int64_t ns);

#endif
