/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Epoch: what level.c, bridges.c and solve.c work on. A group has the times at which several
 * domains have heard one transmission. Each domain in a group has a slot in this epoch.
 */
#ifndef MERGE_CLOCK_EPOCH_H
#define MERGE_CLOCK_EPOCH_H

#include "clocks.h"

struct level_member {
	uint32_t domain;
	uint32_t slot; /* the domain's place in this epoch */
	int64_t own_ns;
	double off_ns; /* from the group's middle */
	double weight;
};

struct level_group {
	uint32_t first, count; /* members; 0: the group was dropped */
	double weight;	       /* sum */
};

enum level_vector { X, RESIDUAL, DIRECTION, PRODUCT, DIAGONAL, VARIANCE, WHEN, LEVEL_VECTORS };

struct level {
	struct level_member *members;
	struct level_group *groups;
	uint32_t member_count, member_room, group_count, group_room;
	int64_t begun_ns; /* unified time of the epoch's begin */
	bool begun;	  /* with a group */
	/* By slot */
	uint32_t *domains, slot_count, slot_room;
	double *vectors; /* LEVEL_VECTORS of them */
	/* By domain: slot + 1, or 0 */
	uint32_t *slots, domain_room;
};

static inline double *epoch_vector(const struct level *l, enum level_vector which)
{
	return l->vectors + (size_t)which * l->slot_room;
}

/* Makes room for a group with so many members behind the last one. Returns 0 or -ENOMEM. */
int epoch_room(struct level *l, const struct clocks *c, uint32_t members);
/* Adds the group, for which there is room. Returns 0 or -ENOMEM. */
int epoch_add(struct level *l, const struct level_group *g);
/* Leaves out the domain in all groups. */
void epoch_drop(struct level *l, uint32_t domain);
/* Forgets all groups. */
void epoch_clear(struct level *l);
void epoch_free(struct level *l);

#endif
