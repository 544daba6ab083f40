/* SPDX-License-Identifier: GPL-2.0 */
/* Parts: domains that share frames. In: that two parts share some after all. Out: one part. */
#ifndef MERGE_CLOCK_PARTS_H
#define MERGE_CLOCK_PARTS_H

#include "clocks.h"

#define PARTS_FIRST 1024	    /* so many numbers are given before one is given again, */
#define PARTS_FREE_NS 60000000000LL /* and it was free for so long */

/* A reference of the domain is one of another part, too. */
void parts_meet(struct clocks *c, struct domain *d, const struct reference *e, int64_t own_ns);
/* The smaller one of two parts becomes the other one's. The other's time is `distance_ns` more than
 * that of `part`. */
void parts_unite(struct clocks *c, uint32_t part, uint32_t other, int64_t distance_ns);
/* Sets each domain's `alone`. Returns 0 or -ENOMEM. */
int parts_find_alone(struct clocks *c);
/* Whether there are several parts, now. */
bool parts_are_several(const struct clocks *c);
/* Returns the number of a new part. */
uint32_t parts_new(struct clocks *c);
/* Sets each part's domains, whose clocks are known. Returns false without memory. */
bool parts_gather(struct clocks *c);
/* Notes which parts have no domain any more: their numbers are given again. */
void parts_give_back(struct clocks *c);
/* Adds each part's `shift_ns` to the times of its clocks and references. After parts_gather(). */
void parts_shift(struct clocks *c);

#endif
