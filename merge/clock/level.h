/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Level: corrects all clocks together. In: groups, which are the times at which several domains
 * have heard one transmission. Out: corrected clocks, once an epoch. The corrections x of the
 * domains are those of least squares,
 *
 *     min sum ((x_i + u_i - mean of the group) / s_i)^2 + x_i^2 / (400 P_i + (10 us)^2)
 *
 * with the stamps' jitter s and the clocks' variance P, by conjugate gradients. Corrections of one
 * frame after another would leave slow waves over a building. Then each domain's Kalman filter
 * takes its x as a measurement, at the mean time of the domain's receptions: frames come in bursts,
 * and a clock whose rate is wrong is not off by the same in all of an epoch.
 */
#ifndef MERGE_CLOCK_LEVEL_H
#define MERGE_CLOCK_LEVEL_H

#include "clocks.h"
#include "merge/model/transmission.h"

#define LEVEL_EPOCH_NS 250000000

struct level_member {
	uint32_t domain;
	uint32_t slot; /* the domain's place in this epoch */
	int64_t own_ns;
	double off_ns; /* from the group's middle */
	double weight;
};

struct level_group {
	uint32_t first, count; /* members */
	double weight;	       /* sum */
};

struct level {
	struct level_member *members;
	struct level_group *groups;
	uint32_t member_count, member_room, group_count, group_room;
	int64_t begun_ns; /* unified time of the epoch's begin */
	/* By slot */
	uint32_t *domains, slot_count, slot_room;
	double *vectors; /* LEVEL_VECTORS of them */
	/* By domain: slot + 1, or 0 */
	uint32_t *slots, domain_room;
	uint64_t groups_taken;
};

void level_init(struct level *l);
void level_free(struct level *l);
/* Takes a decided transmission of a kind that tracks clocks. Returns 0 or -ENOMEM. */
int level_take(struct level *l, struct clocks *c, const struct transmission *t);
/* Ends the epoch if it is time. Returns 0 or -ENOMEM. */
int level_tick(struct level *l, struct clocks *c, int64_t unified_ns);

#endif
