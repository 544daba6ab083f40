// SPDX-License-Identifier: GPL-2.0
/* Level: see level.h. */
#include "level.h"

#include <math.h>
#include <string.h>

#include "anchor.h"
#include "bridges.h"
#include "find.h"
#include "solve.h"

#define FAR_NS 60e3 /* beyond it, and 5 sigma, is an outlier */
#define SLEW_SIGMAS 6
#define STRANGE 4
#define STRANGE_STAMP 2
/* A small step is outliers that agree, without any good reference between them. */
#define OUTLIERS 4
#define OUTLIERS_OF_ONE 8 /* if all are off the same other domain, which may be wrong itself */
#define OUTLIERS_APART_NS 20000000
#define OUTLIERS_SPAN_NS 60000000
#define OUTLIERS_NEAR_NS 300e3

void level_init(struct level *l)
{
	memset(l, 0, sizeof(*l));
}

void level_free(struct level *l)
{
	epoch_free(l);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* A stamp that is far off another domain's was late, or one of the clocks has made a small step. */
static void outlier(struct domain *d, double off_ns, int64_t own_ns, uint32_t other)
{
	d->outlying++;
	if (d->outliers && own_ns - d->outlier_last_ns < OUTLIERS_APART_NS)
		return;
	if (!d->outliers || off_ns > d->outlier_most + OUTLIERS_NEAR_NS ||
	    off_ns < d->outlier_least - OUTLIERS_NEAR_NS) {
		d->outliers = 0;
		d->outlier_others = false;
		d->outlier_other = other;
		d->outlier_first_ns = own_ns;
		d->outlier_least = d->outlier_most = off_ns;
	}
	d->outliers++;
	d->outlier_others |= other != d->outlier_other;
	d->outlier_last_ns = own_ns;
	d->outlier_least = fmin(d->outlier_least, off_ns);
	d->outlier_most = fmax(d->outlier_most, off_ns);
	if (d->outliers < (d->outlier_others ? OUTLIERS : OUTLIERS_OF_ONE) ||
	    own_ns - d->outlier_first_ns < OUTLIERS_SPAN_NS ||
	    d->outlier_most - d->outlier_least > OUTLIERS_NEAR_NS)
		return;
	d->clock.p00 += d->outlier_most * d->outlier_most + d->outlier_least * d->outlier_least;
	d->clock.p11 += SLEW_RATE * SLEW_RATE;
	d->outliers = 0;
	d->slews++;
}

/* Whether the reception is the domain's first one in the transmission, by the clock of now. */
static bool is_first(const struct transmission *t, const struct heard *h, const struct domain *d)
{
	if (h->generation != d->clock.generation)
		return false;
	for (const struct heard *e = t->first; e != h; e = e->next)
		if (e->domain == h->domain)
			return false;
	return true;
}

/* Takes the group's members as references. */
static int group_take(struct level *l, struct clocks *c, const struct level_group *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct level_member *m = &l->members[g->first + i];
		struct domain *d = c->list[m->domain];

		d->outliers = 0;
		d->references++;
		clock_jitter(&d->clock, m->off_ns);
		if (d->clock.doubt > 0 && m->own_ns >= d->clock.doubt_ns) { /* it has stepped */
			epoch_drop(l, m->domain);
			clock_predict(&d->clock, d->clock.doubt_ns);
		}
	}
	return epoch_add(l, g);
}

int level_take(struct level *l, struct clocks *c, const struct transmission *t)
{
	struct domain *of_middle = c->list[t->middle->domain];
	int64_t middle = clock_unified(&of_middle->clock, t->middle->own_ns);
	struct level_group g = { .first = l->member_count };
	unsigned int outliers = 0;
	int err = epoch_room(l, c, t->count);
	double last = 0;
	uint32_t other = 0;

	if (err || of_middle->clock.generation != t->middle->generation)
		return err;
	for (const struct heard *h = t->first; h; h = h->next) {
		struct domain *d = c->list[h->domain];
		struct level_member *m = &l->members[g.first + g.count];
		double off, far, weight = 1 / d->clock.jitter;

		if (!is_first(t, h, d))
			continue;
		off = clock_unified(&d->clock, h->own_ns) - middle;
		far = 5 * sqrt(clock_variance(&d->clock, h->own_ns) + d->clock.jitter);
		if (fabs(off) > fmax(FAR_NS, far)) {
			outlier(d, off, h->own_ns, t->middle->domain);
			outliers++;
			last = off;
			other = h->domain;
			continue;
		}
		*m = (struct level_member){ h->domain, 0, h->own_ns, off, weight };
		g.weight += m->weight;
		g.count++;
	}
	if (!l->begun) /* epochs are the same ones, whenever data arrive */
		l->begun_ns = t->middle->unified_ns;
	l->begun = true;
	if (g.count >= 2)
		return group_take(l, c, &g);
	if (outliers == 1) /* of two, nobody knows which one is wrong */
		outlier(of_middle, -last, t->middle->own_ns, other);
	return 0;
}

/* ---- corrections ----------------------------------------------------------------------------- */

/* A correction that is far beyond its variance: the rate has changed. One may be wrong, if few
 * frames of the epoch tie some sensors to the others. Clocks that nobody slews are believed for
 * longer: what their radios are bridged by may be wrong. */
static void correct(struct clocks *c, struct domain *d, double x, double variance)
{
	bool strange = fabs(x) > SLEW_SIGMAS * sqrt(d->clock.p00 + variance);

	d->strange = strange ? d->strange + 1 : 0;
	if (strange && d->strange < (d->follows == FOLLOWS_STAMP ? STRANGE_STAMP : STRANGE)) {
		variance += x * x;
	} else if (strange) {
		d->clock.p11 += SLEW_RATE * SLEW_RATE;
		d->clock.p00 += x * x;
		d->slews++;
		c->slews++;
	}
	clock_correct(&d->clock, x, variance);
}

int level_tick(struct level *l, struct clocks *c, int64_t unified_ns)
{
	int64_t end_ns;
	int err;

	if (!l->begun_ns)
		l->begun_ns = unified_ns;
	end_ns = l->begun_ns + LEVEL_EPOCH_NS;
	if (unified_ns < end_ns)
		return 0;
	err = bridges_take(l, c, l->begun_ns + LEVEL_EPOCH_NS / 2);
	if (err)
		return err;
	if (l->group_count)
		solve_epoch(l, c);
	for (uint32_t i = 0; i < l->slot_count; i++)
		if (epoch_vector(l, VARIANCE)[i] > 0)
			correct(c, c->list[l->domains[i]], epoch_vector(l, X)[i],
				epoch_vector(l, VARIANCE)[i]);
	anchor_steer(c, end_ns);
	epoch_clear(l);
	l->begun_ns = unified_ns - (unified_ns - end_ns) % LEVEL_EPOCH_NS;
	return 1;
}
