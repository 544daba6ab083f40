/* SPDX-License-Identifier: GPL-2.0 */
/* Wanted: for which references domains without clock wait. When some clocks are found one after the
 * other, only domains are looked at again that wait for a new reference, or that have a sibling
 * whose clock is new. In: clocks that are found. Out: domains to be looked at, in the order of
 * their numbers. */
#ifndef MERGE_CLOCK_WANTED_H
#define MERGE_CLOCK_WANTED_H

#include "clocks.h"

/* Begins: all domains have been looked at. Without memory, it stays inactive. */
void wanted_begin(struct clocks *c);
void wanted_end(struct clocks *c);
/* A reference is new. */
void wanted_reference(struct clocks *c, uint64_t key);
/* A clock is new. */
void wanted_clock(struct clocks *c, const struct domain *d);
/* Two parts are one: the references are others. */
void wanted_all(struct clocks *c);
/* Return the next domain from this number on that is to be looked at, or UINT32_MAX. */
uint32_t wanted_look(struct clocks *c, uint32_t from);
uint32_t wanted_cross(struct clocks *c, uint32_t from);

#endif
