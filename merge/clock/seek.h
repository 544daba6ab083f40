/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seek: finds clocks that are not known. References tell (join); or another radio of the sensor; or
 * nobody, and the domain is the root of a new part, by its coarse time.
 */
#ifndef MERGE_CLOCK_SEEK_H
#define MERGE_CLOCK_SEEK_H

#include "clocks.h"

/* Keeps a reference of a domain without clock. */
void seek_wait(struct domain *d, const struct reception *r);
/* Takes what others say of a transmission that a domain without clock has heard. Returns whether
 * the clock is now known. */
bool seek_join(struct clocks *c, struct domain *d, const struct reference *e, int64_t own_ns);
/* Looks at all domains: after some arrivals. All have come to `reached_ns`, as far as their time is
 * known; INT64_MAX: nothing more will arrive. */
void seek_all(struct clocks *c, int64_t reached_ns);

#endif
