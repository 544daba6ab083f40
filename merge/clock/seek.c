// SPDX-License-Identifier: GPL-2.0
/* Seek: see seek.h. */
#include "seek.h"

#include <stdlib.h>

#include "find.h"
#include "parts.h"
#include "wanted.h"

#define USUAL_NS 3600000000000LL
#define LOOK_NS 250000000LL
#define ROOT_NS 1000000000LL   /* a root is chosen after this time */
#define SIBLINGS_MOST 64       /* of a domain, that are looked at */
#define HOPE_TIMES 3	       /* patiences that an ended domain waits for the one after it */
#define CROSS_NS 10000000000LL /* before or after a domain */

/* ---- joins ----------------------------------------------------------------------------------- */

void seek_wait(struct domain *d, const struct reception *r)
{
	if (!d->waiting)
		d->waiting = malloc(WAITING_MAX * sizeof(*d->waiting));
	if (d->waiting && d->waiting_count < WAITING_MAX)
		d->waiting[d->waiting_count++] = (struct waiting){ r->key, r->own_ns };
}

/* A clock was found: its references are those of others. */
static void publish(struct clocks *c, struct domain *d)
{
	for (unsigned int i = 0; i < d->waiting_count; i++)
		if (!references_find(&c->references, d->waiting[i].key)) {
			references_add(&c->references, d->waiting[i].key,
				       clock_unified(&d->clock, d->waiting[i].own_ns), d->number);
			wanted_reference(c, d->waiting[i].key);
		}
	wanted_clock(c, d);
	free(d->waiting);
	d->waiting = NULL;
	d->waiting_count = 0;
	c->joined = true;
}

bool seek_join(struct clocks *c, struct domain *d, const struct reference *e, int64_t own_ns)
{
	int64_t distance;
	double rate;

	samples_add(&d->samples, e->unified_ns - own_ns, own_ns, c->list[e->domain]->part);
	if (!samples_agree(&d->samples, &distance, &rate))
		return false;
	d->part = d->samples.part;
	clock_set(&d->clock, d->samples.last_ns, distance, JOIN_SD_NS, JOIN_SD_RATE);
	d->clock.rate += rate;
	d->samples.count = 0;
	c->joins++;
	publish(c, d);
	clocks_say(c, d, "join");
	return true;
}

static void found(struct clocks *c, struct domain *d, uint32_t part)
{
	d->part = part;
	clock_set(&d->clock, d->newest_ns, d->coarse_ns, JOIN_SD_NS, JOIN_SD_RATE);
	d->samples.count = 0;
	publish(c, d);
	clocks_say(c, d, "part");
}

static void look_at(struct clocks *c, struct domain *d)
{
	d->samples.count = d->clock.known ? d->samples.count : 0;
	for (unsigned int n = 0; !d->clock.known && n < d->waiting_count; n++) {
		const struct waiting *w = &d->waiting[n];
		struct reference *e = references_find(&c->references, w->key);

		if (e && e->domain != d->number && seek_join(c, d, e, w->own_ns))
			break;
	}
}

/* Those without clock look at their references again, as others' clocks were found. */
static void look_again(struct clocks *c)
{
	while (c->joined) {
		c->joined = false;
		for (uint32_t i = 0; (i = wanted_look(c, i)) != UINT32_MAX; i++)
			look_at(c, c->list[i]);
	}
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Whether half of all domains have about the same time: its clock is not in 1970. */
static bool is_usual(const struct clocks *c, const struct domain *d)
{
	int64_t at = domain_unified(d, d->first_ns);
	unsigned int near = 0, all = 0;

	for (unsigned int i = 0; i < c->count; i++) {
		const struct domain *e = c->list[i];

		all += e->arrived;
		near += e->arrived && llabs(domain_unified(e, e->first_ns) - at) < USUAL_NS;
	}
	return 2 * near >= all;
}

/* The first root: who has most references after a second. */
static struct domain *root(const struct clocks *c, bool all)
{
	struct domain *best = NULL;

	if (c->parts)
		return NULL;
	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];

		if (d->arrived && (!best || d->waiting_count > best->waiting_count) &&
		    is_usual(c, d))
			best = d;
	}
	for (unsigned int i = 0; all && !best && i < c->count; i++) /* no two have one time */
		best = c->list[i]->arrived ? c->list[i] : NULL;
	return best && (all || best->newest_ns - best->first_ns >= ROOT_NS) ? best : NULL;
}

static bool is_open(const struct domain *d)
{
	return d->arrived && !d->ended && !d->clock.known;
}

/* Another domain of the sensor whose clock may be found, and with it this one's. */
static bool has_hope(const struct clocks *c, const struct domain *d)
{
	const struct clocks_sensor *s = &c->of_sensor[d->sensor];

	if (s->last->run == d->run && is_open(s->last)) /* there may be many before it */
		return true;
	for (const struct domain *o = s->first; o; o = o->sibling)
		if (o->run == d->run && is_open(o))
			return true;
	return false;
}

/* Whether the domain shares nothing with others, which have come as far. If it shares a little, it
 * waits for more. */
static bool is_alone(const struct clocks *c, const struct domain *d, int64_t reached_ns, bool full)
{
	bool waits = (d->samples.count || d->again) && !full;
	int64_t patience = waits ? c->sparse_ns : c->alone_ns;
	int64_t begun = domain_unified(d, d->first_ns);

	if (reached_ns == INT64_MAX)
		return true;
	begun = begun > d->others_ns ? begun : d->others_ns;
	if ((!d->ended && d->newest_ns - d->first_ns < patience) || begun + patience > reached_ns)
		return false;
	/* A sensor that is started again and again always has a newer one. */
	return !d->ended || begun + HOPE_TIMES * patience <= reached_ns || !has_hope(c, d);
}

/* Returns the sensor's domain with most references: the others find their clocks by it. */
static struct domain *busiest(const struct clocks *c, struct domain *d, int64_t reached_ns,
			      bool full)
{
	struct domain *best = d;
	unsigned int n = 0;

	for (struct domain *o = d->sibling; o && n++ < SIBLINGS_MOST; o = o->sibling)
		if (o->arrived && !o->clock.known && o->waiting_count > best->waiting_count &&
		    is_alone(c, o, reached_ns, full))
			best = o;
	return best;
}

static struct domain *alone(struct clocks *c, int64_t reached_ns, bool full)
{
	for (unsigned int i = c->wanted.from; i < c->count; i++) {
		struct domain *d = c->list[i];

		if (d->arrived && !d->clock.known && is_alone(c, d, reached_ns, full)) {
			wanted_begin(c);
			c->wanted.from = c->wanted.active ? i : 0;
			return busiest(c, d, reached_ns, full);
		}
	}
	return NULL;
}

/* ---- radios with TSFT ------------------------------------------------------------------------ */

/* Own time at which the domain's sensor has stamped `stamp_ns`. A radio whose TSFT was reset had
 * another domain until then, which may have ended after some receptions. */
static bool own_at(const struct domain *d, int64_t stamp_ns, int64_t *own_ns)
{
	double variance;
	int64_t ahead;

	if (d->follows != FOLLOWS_TSFT || !d->arrived)
		return false;
	if (!bridge_ahead(&d->arrived_by, d->newest_ns, &ahead, &variance)) {
		if (!d->ended)
			return false;
		ahead = d->arrived_by.of[0].ahead_ns;
	}
	*own_ns = stamp_ns - ahead;
	return !d->ended || (*own_ns > d->first_ns - CROSS_NS && *own_ns < d->newest_ns + CROSS_NS);
}

/* A radio whose sensor has another one with a TSFT. */
static void cross(struct clocks *c, struct domain *d, const struct domain *other)
{
	int64_t own, others, distance;

	if (!own_at(d, d->stamp_ns, &own) || !own_at(other, d->stamp_ns, &others))
		return;
	distance = clock_unified(&other->clock, others) - domain_unified(d, own);
	if (d->clock.known) {
		parts_unite(c, d->part, other->part, distance);
		wanted_all(c);
	} else {
		d->part = other->part;
		clock_set(&d->clock, own, d->coarse_ns + distance, JOIN_SD_NS, JOIN_SD_RATE);
		c->joins++;
		publish(c, d);
		clocks_say(c, d, "join");
	}
}

/* The first references are better than the stamps around a reset. */
static bool may_cross(const struct domain *d, bool all)
{
	return all || d->ended || d->newest_ns - d->first_ns >= ROOT_NS;
}

/* Finds the sensors with domains in several parts. */
static void find_split(struct clocks *c)
{
	for (unsigned int i = 0; i < c->count; i++) {
		struct clocks_sensor *s = &c->of_sensor[c->list[i]->sensor];

		s->split = s->any = false;
	}
	for (unsigned int i = 0; i < c->count; i++) {
		struct clocks_sensor *s = &c->of_sensor[c->list[i]->sensor];

		if (!c->list[i]->clock.known)
			continue;
		s->split |= s->any && s->part != c->list[i]->part;
		s->any = true;
		s->part = c->list[i]->part;
	}
}

static void cross_all(struct clocks *c, bool all)
{
	if (!c->wanted.active)
		find_split(c);
	for (uint32_t i = 0; (i = wanted_cross(c, i)) != UINT32_MAX; i++) {
		struct domain *d = c->list[i], *o = c->of_sensor[d->sensor].first;

		if (d->follows != FOLLOWS_TSFT ||
		    (d->clock.known && !c->wanted.active && !c->of_sensor[d->sensor].split))
			continue;
		for (; o; o = o->sibling)
			if (o != d && o->run == d->run && o->clock.known &&
			    (!d->clock.known || o->part != d->part) &&
			    (!o->ended || may_cross(d, all)))
				cross(c, d, o);
	}
}

static void spread(struct clocks *c, bool all)
{
	look_again(c);
	cross_all(c, all);
	look_again(c);
}

/* ---------------------------------------------------------------------------------------------- */

void seek_all(struct clocks *c, int64_t reached_ns)
{
	bool full = clocks_queued(c) >= CLOCKS_QUEUED_MOST;
	struct domain *d = root(c, reached_ns == INT64_MAX);

	if (c->now_ns - c->looked_ns > LOOK_NS || reached_ns == INT64_MAX) {
		c->joined = true; /* others may have heard what those without clock have */
		c->looked_ns = c->now_ns;
	}
	look_again(c);
	if (d) {
		found(c, d, parts_new(c));
		for (unsigned int i = 0; i < c->count; i++)
			c->list[i]->others_ns = clock_unified(&d->clock, d->newest_ns);
	}
	spread(c, reached_ns == INT64_MAX);
	while (c->parts && (d = alone(c, reached_ns, full))) {
		found(c, d, parts_new(c));
		spread(c, reached_ns == INT64_MAX);
	}
	wanted_end(c);
}
