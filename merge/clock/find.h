/* SPDX-License-Identifier: GPL-2.0 */
/* Find: whether some differences agree, so that a clock, or its step, is found. */
#ifndef MERGE_CLOCK_FIND_H
#define MERGE_CLOCK_FIND_H

#include "domain.h"

#define JOIN_APART_NS 5000000
#define JOIN_NEAR_NS 300000
#define JOIN_LEAST 5
#define STEP_APART_NS 10000000
#define STEP_NS 1000000	 /* smaller ones are level.h's */
#define SLEW_RATE 600e-6 /* a clock's that is being slewed */

/* Adds a difference if it is far enough from the last one. */
void samples_add(struct samples *s, int64_t ns, int64_t own_ns, uint32_t part);
/* Whether at least JOIN_LEAST, and 60 %, of those of the last seconds are near their median, or of
 * all near a line. `*ns` is then what they say at the last one's time, and `*rate` the line's. */
bool samples_agree(const struct samples *s, int64_t *ns, double *rate);
/* Adds a mark if it is far enough from the last one. Marks of an earlier setting of the clock are
 * dropped. */
void course_add(struct course *s, const struct clock *c, const struct mark *m);
/* Whether the clock may have come there from one of the marks without a step. A slew comes slowly,
 * and is level.h's. It may not have come to the clock yet, so that the clock itself cannot tell. */
bool course_fits(const struct course *s, const struct clock *c, const struct mark *m);
/* By how much the clock is behind its course. */
int64_t course_off(const struct course *s, const struct clock *c);
/* The same as for samples, for references that contradict the clock. Returns whether it was added.
 */
bool suspects_add(struct suspects *s, int64_t ns, uint32_t other, int64_t own_ns, uint64_t number);
/* Whether at least three agree, from two other domains at least, or six from one. They must also go
 * on for longer than the domain ever is without a reference that fits: an attacker can replay
 * frames, but he cannot remove the true ones. */
bool suspects_agree(const struct suspects *s, int64_t *ns);
/* Takes a step out of the domain's own time. Its place is between the last reference that fits and
 * the first one that does not: where the time goes back, or else the largest gap. */
void domain_step(struct domain *d, int64_t step_ns);

#endif
