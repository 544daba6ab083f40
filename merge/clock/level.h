/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Level: corrects all clocks together. In: groups, which are the times at which several domains
 * have heard one transmission. Out: corrected clocks, once an epoch. The corrections x of the
 * domains are those of least squares,
 *
 *     min sum ((x_i + u_i - mean of the group) / s_i)^2 + x_i^2 / (400 P_i + (20 us)^2)
 *
 * with the stamps' jitter s and the clocks' variance P, by conjugate gradients. Corrections of one
 * frame after another would leave slow waves over a building. Then each domain's Kalman filter
 * takes its x as a measurement at the mean time of the domain's receptions. Another time would be
 * wrong, because frames come in bursts, and the error of a clock with a wrong rate grows.
 */
#ifndef MERGE_CLOCK_LEVEL_H
#define MERGE_CLOCK_LEVEL_H

#include "epoch.h"
#include "merge/model/transmission.h"

#define LEVEL_EPOCH_NS 250000000

void level_init(struct level *l);
void level_free(struct level *l);
/* Takes a decided transmission of a kind that tracks clocks. Returns 0 or -ENOMEM. */
int level_take(struct level *l, struct clocks *c, const struct transmission *t);
/* Ends the epoch if it is time. Then all clocks have changed. Returns whether it was time, or
 * -ENOMEM. */
int level_tick(struct level *l, struct clocks *c, int64_t unified_ns);

#endif
