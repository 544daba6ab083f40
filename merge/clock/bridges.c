// SPDX-License-Identifier: GPL-2.0
/* Bridges: see bridges.h. */
#include "bridges.h"

#include <math.h>

#define BRIDGE_SIGMAS 4

static void bridge_member(struct level *l, struct clocks *c, struct level_group *g, uint32_t domain,
			  int64_t middle_ns)
{
	struct level_member *m = &l->members[g->first + g->count];
	struct bridge *b = &c->list[domain]->swept_by;
	double variance;
	int64_t ahead;

	if (!bridge_ahead(b, middle_ns, &ahead, &variance))
		return;
	b->count = 0;
	bridge_follow(b, middle_ns, ahead, variance);
	*m = (struct level_member){
		.domain = domain,
		.own_ns = clock_own(&c->list[domain]->clock, middle_ns),
		.off_ns = -ahead,
		.weight = 1 / variance,
	};
	g->weight += m->weight;
	g->count++;
}

static double square(double a)
{
	return a * a;
}

/* A late interrupt may have stamped most of a radio's frames of the epoch. If the members are
 * farther apart than their variances allow, they are given what explains it as variance. */
static void doubt_bridge(const struct level *l, const struct clocks *c, struct level_group *g)
{
	struct level_member *m = &l->members[g->first];
	double least = m[0].off_ns, most = least, expected = 0;

	for (uint32_t i = 0; i < g->count; i++) {
		least = fmin(least, m[i].off_ns);
		most = fmax(most, m[i].off_ns);
		expected +=
			1 / m[i].weight + clock_variance(&c->list[m[i].domain]->clock, m[i].own_ns);
	}
	if (square(most - least) <= square(BRIDGE_SIGMAS) * expected)
		return;
	g->weight = 0;
	for (uint32_t i = 0; i < g->count; i++) {
		m[i].weight = 1 / (1 / m[i].weight + square(most - least));
		g->weight += m[i].weight;
	}
}

static bool belongs(const struct domain *d, const struct domain *first)
{
	return d->sensor == first->sensor && d->part == first->part && d->clock.known &&
	       d->follows == FOLLOWS_TSFT;
}

int bridges_take(struct level *l, struct clocks *c, int64_t middle_ns)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < c->count; i++) {
		struct domain *d = c->list[i];
		struct level_group g = { .first = l->member_count };

		if (d->follows != FOLLOWS_TSFT || !d->clock.known || !d->swept_by.count)
			continue;
		err = epoch_room(l, c, c->count);
		for (const struct domain *o = d; !err && o; o = o->sibling)
			if (belongs(o, d))
				bridge_member(l, c, &g, o->number, middle_ns);
		if (d->left && queue_is_empty(&d->queue)) /* there will never be enough */
			d->swept_by.count = 0;
		if (err || g.count < 2)
			continue;
		doubt_bridge(l, c, &g);
		err = epoch_add(l, &g);
	}
	return err;
}
