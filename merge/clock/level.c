// SPDX-License-Identifier: GPL-2.0
/* Level: see level.h. */
#include "level.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "anchor.h"
#include "find.h"
#include "merge/model/transmission.h"

#define ITERATIONS 40
#define ENOUGH 1e-10	      /* of the residual's square */
#define FAR_NS 60e3	      /* beyond it, and 5 sigma, is an outlier */
#define FLOOR (400.0 * 400.0) /* variance of a correction, ns^2 */
#define PRIOR_TIMES 400
#define PRIOR (10e3 * 10e3)
#define SLEW_SIGMAS 6
#define STRANGE 4
#define BRIDGE_SIGMAS 4
/* A small step is outliers that agree, without any good reference between them. */
#define OUTLIERS 4
#define OUTLIERS_OF_ONE 8 /* if all are off the same other domain, which may be wrong itself */
#define OUTLIERS_APART_NS 20000000
#define OUTLIERS_SPAN_NS 60000000
#define OUTLIERS_NEAR_NS 300e3

enum { X, RESIDUAL, DIRECTION, PRODUCT, DIAGONAL, DOUBT, WHEN, LEVEL_VECTORS };

void level_init(struct level *l)
{
	memset(l, 0, sizeof(*l));
}

void level_free(struct level *l)
{
	free(l->members);
	free(l->groups);
	free(l->domains);
	free(l->vectors);
	free(l->slots);
	level_init(l);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int room(struct level *l, const struct clocks *c, uint32_t more)
{
	if (l->member_count + more > l->member_room) {
		uint32_t n = 2 * l->member_room + more + 1024;
		void *p = realloc(l->members, n * sizeof(*l->members));

		if (!p)
			return -ENOMEM;
		l->members = p;
		l->member_room = n;
	}
	if (l->group_count == l->group_room) {
		uint32_t n = 2 * l->group_room + 256;
		void *p = realloc(l->groups, n * sizeof(*l->groups));

		if (!p)
			return -ENOMEM;
		l->groups = p;
		l->group_room = n;
	}
	if (c->count > l->domain_room) {
		void *p = realloc(l->slots, c->room * sizeof(*l->slots));

		if (!p)
			return -ENOMEM;
		l->slots = p;
		memset(l->slots + l->domain_room, 0,
		       (c->room - l->domain_room) * sizeof(*l->slots));
		l->domain_room = c->room;
	}
	return 0;
}

static int slot_of(struct level *l, uint32_t domain, uint32_t *slot)
{
	if (!l->slots[domain]) {
		if (l->slot_count == l->slot_room) {
			uint32_t n = 2 * l->slot_room + 64;
			void *p = realloc(l->domains, n * sizeof(*l->domains));

			if (!p)
				return -ENOMEM;
			l->domains = p;
			free(l->vectors);
			l->vectors = malloc(LEVEL_VECTORS * (size_t)n * sizeof(*l->vectors));
			l->slot_room = l->vectors ? n : 0;
			if (!l->vectors)
				return -ENOMEM;
		}
		l->domains[l->slot_count++] = domain;
		l->slots[domain] = l->slot_count;
	}
	*slot = l->slots[domain] - 1;
	return 0;
}

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

/* Leaves out what the domain has in this epoch, as its clock has stepped since. */
static void drop(struct level *l, uint32_t domain)
{
	for (uint32_t n = 0; n < l->group_count; n++) {
		struct level_group *g = &l->groups[n];
		struct level_member *m = &l->members[g->first];

		for (uint32_t i = 0; i < g->count; i++) {
			if (m[i].domain != domain)
				continue;
			g->weight -= m[i].weight;
			m[i] = m[--g->count];
			break;
		}
		if (g->count < 2)
			g->count = 0;
	}
}

/* Takes what is in the group. */
static int group_take(struct level *l, struct clocks *c, const struct level_group *g)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < g->count; i++) {
		struct level_member *m = &l->members[g->first + i];
		struct domain *d = c->list[m->domain];

		d->outliers = 0;
		d->references++;
		clock_jitter(&d->clock, m->off_ns);
		if (d->clock.doubt > 0 && m->own_ns >= d->clock.doubt_ns) {
			drop(l, m->domain);
			clock_predict(&d->clock, d->clock.doubt_ns);
		}
		err = slot_of(l, m->domain, &m->slot);
	}
	if (err)
		return err;
	l->member_count += g->count;
	l->groups[l->group_count++] = *g;
	l->groups_taken++;
	return 0;
}

int level_take(struct level *l, struct clocks *c, const struct transmission *t)
{
	struct domain *of_middle = c->list[t->middle->domain];
	int64_t middle = clock_unified(&of_middle->clock, t->middle->own_ns);
	struct level_group g = { .first = l->member_count };
	unsigned int outliers = 0;
	int err = room(l, c, t->count);
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
	if (g.count >= 2)
		return group_take(l, c, &g);
	if (outliers == 1) /* of two, nobody knows which one is wrong */
		outlier(of_middle, -last, t->middle->own_ns, other);
	return 0;
}

/* ---- least squares --------------------------------------------------------------------------- */

static double *vector(const struct level *l, int which)
{
	return l->vectors + (size_t)which * l->slot_room;
}

/* out += for each member: weight (value - mean of its group). `of` NULL: values are off_ns. */
static void centred(const struct level *l, const double *of, double *out, double sign)
{
	for (uint32_t n = 0; n < l->group_count; n++) {
		const struct level_group *g = &l->groups[n];
		const struct level_member *m = &l->members[g->first];
		double mean = 0;

		for (uint32_t i = 0; i < g->count; i++)
			mean += m[i].weight * (of ? of[m[i].slot] : m[i].off_ns);
		mean /= g->weight;
		for (uint32_t i = 0; i < g->count; i++)
			out[m[i].slot] +=
				sign * m[i].weight * ((of ? of[m[i].slot] : m[i].off_ns) - mean);
	}
}

static double dot(const double *a, const double *b, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static double prior(const struct clocks *c, const struct level *l, uint32_t slot)
{
	return 1 / (PRIOR_TIMES * c->list[l->domains[slot]]->clock.p00 + PRIOR);
}

/* Conjugate gradients, with the diagonal as preconditioner. */
static void solve(const struct level *l, const struct clocks *c)
{
	uint32_t n = l->slot_count;
	double *x = vector(l, X), *r = vector(l, RESIDUAL), *p = vector(l, DIRECTION);
	double *ap = vector(l, PRODUCT), *diagonal = vector(l, DIAGONAL);
	double rz = 0, first;

	memset(x, 0, n * sizeof(*x));
	memset(r, 0, n * sizeof(*r));
	centred(l, NULL, r, -1);
	for (uint32_t i = 0; i < n; i++) {
		diagonal[i] += prior(c, l, i);
		p[i] = r[i] / diagonal[i];
		rz += r[i] * p[i];
	}
	first = rz;
	for (int k = 0; k < ITERATIONS && rz > ENOUGH * first; k++) {
		double alpha, next = 0;

		for (uint32_t i = 0; i < n; i++)
			ap[i] = p[i] * prior(c, l, i);
		centred(l, p, ap, 1);
		alpha = rz / dot(p, ap, n);
		for (uint32_t i = 0; i < n; i++) {
			x[i] += alpha * p[i];
			r[i] -= alpha * ap[i];
			next += r[i] * r[i] / diagonal[i];
		}
		for (uint32_t i = 0; i < n; i++)
			p[i] = r[i] / diagonal[i] + next / rz * p[i];
		rz = next;
	}
}

/* A correction that is far beyond its variance: the rate has changed. Clocks that nobody slews are
 * believed for some epochs: what their radios are bridged by may be wrong. */
static void correct(struct clocks *c, struct domain *d, double x, double variance)
{
	bool strange = fabs(x) > SLEW_SIGMAS * sqrt(d->clock.p00 + variance);

	d->strange = strange ? d->strange + 1 : 0;
	if (strange && d->follows != FOLLOWS_STAMP && d->strange < STRANGE) {
		variance += x * x;
	} else if (strange) {
		d->clock.p11 += SLEW_RATE * SLEW_RATE;
		d->clock.p00 += x * x;
		d->slews++;
		c->slews++;
	}
	clock_correct(&d->clock, x, variance);
}

/* Adds the other domains' own errors to the variance of a domain's correction. These errors are the
 * same in all groups of an epoch, so more groups do not make them smaller. Without this, the stated
 * uncertainty of clocks would fall long before their errors do. */
static void doubts(const struct level *l, const struct clocks *c)
{
	double *doubt = vector(l, DOUBT), *diagonal = vector(l, DIAGONAL);

	for (uint32_t n = 0; n < l->group_count; n++) {
		const struct level_group *g = &l->groups[n];
		const struct level_member *m = &l->members[g->first];
		double sum = 0;

		for (uint32_t i = 0; i < g->count; i++)
			sum += m[i].weight * m[i].weight * c->list[m[i].domain]->clock.p00;
		for (uint32_t i = 0; i < g->count; i++) {
			double own = m[i].weight * m[i].weight * c->list[m[i].domain]->clock.p00;
			double others = g->weight - m[i].weight;

			doubt[m[i].slot] += m[i].weight * (sum - own) / (others * others);
		}
	}
	for (uint32_t i = 0; i < l->slot_count; i++)
		doubt[i] /= diagonal[i] > 0 ? diagonal[i] : 1;
}

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
	double least = m[0].off_ns, most = m[0].off_ns, expected = 0;

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

/* The radios of a sensor as a group: its clock has stamped all their frames. */
static int bridges(struct level *l, struct clocks *c, int64_t middle_ns)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < c->count; i++) {
		const struct domain *d = c->list[i];
		struct level_group g = { .first = l->member_count };

		if (d->follows != FOLLOWS_TSFT || !d->clock.known || !d->swept_by.count)
			continue;
		err = room(l, c, c->count);
		for (const struct domain *o = d; !err && o; o = o->sibling)
			if (o->clock.known && o->part == d->part && o->follows == FOLLOWS_TSFT)
				bridge_member(l, c, &g, o->number, middle_ns);
		if (err || g.count < 2)
			continue;
		doubt_bridge(l, c, &g);
		for (uint32_t n = 0; !err && n < g.count; n++) {
			struct level_member *m = &l->members[g.first + n];

			err = slot_of(l, m->domain, &m->slot);
		}
		l->member_count += g.count;
		l->groups[l->group_count++] = g;
	}
	return err;
}

/* Sets the domains' weights, and moves the clocks to the mean times of their members. */
static void weigh(struct level *l, struct clocks *c)
{
	double *diagonal = vector(l, DIAGONAL), *when = vector(l, WHEN);

	for (uint32_t i = 0; i < l->slot_count; i++)
		diagonal[i] = when[i] = vector(l, DOUBT)[i] = 0;
	for (uint32_t n = 0; n < l->group_count; n++) {
		const struct level_group *g = &l->groups[n];

		for (uint32_t i = 0; i < g->count; i++) {
			const struct level_member *m = &l->members[g->first + i];

			diagonal[m->slot] += m->weight;
			when[m->slot] += m->weight * (m->own_ns - c->list[m->domain]->clock.at_ns);
		}
	}
	for (uint32_t i = 0; i < l->slot_count; i++) {
		struct clock *k = &c->list[l->domains[i]]->clock;

		if (diagonal[i] > 0)
			clock_predict(k, k->at_ns + llrint(when[i] / diagonal[i]));
	}
}

static void epoch_end(struct level *l, struct clocks *c)
{
	double *diagonal = vector(l, DIAGONAL);

	weigh(l, c);
	doubts(l, c);
	solve(l, c);
	for (uint32_t i = 0; i < l->slot_count; i++) {
		double weight = diagonal[i] - prior(c, l, i);

		if (weight > 0)
			correct(c, c->list[l->domains[i]], vector(l, X)[i],
				1 / weight + vector(l, DOUBT)[i] + FLOOR);
	}
}

int level_tick(struct level *l, struct clocks *c, int64_t unified_ns)
{
	int64_t middle_ns;
	int err;

	if (!l->begun_ns)
		l->begun_ns = unified_ns;
	if (unified_ns - l->begun_ns < LEVEL_EPOCH_NS)
		return 0;
	middle_ns = l->begun_ns + (unified_ns - l->begun_ns) / 2;
	err = bridges(l, c, middle_ns);
	if (err)
		return err;
	if (l->group_count)
		epoch_end(l, c);
	anchor_steer(c, unified_ns);
	for (uint32_t i = 0; i < l->slot_count; i++)
		l->slots[l->domains[i]] = 0;
	l->slot_count = l->member_count = l->group_count = 0;
	l->begun_ns = unified_ns;
	return 0;
}
