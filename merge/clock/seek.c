// SPDX-License-Identifier: GPL-2.0
/* Seek: see seek.h. */
#include "seek.h"

#include <stdlib.h>

#include "find.h"
#include "parts.h"

#define USUAL_NS 3600000000000LL
#define LOOK_NS 250000000LL
#define ROOT_NS 1000000000LL   /* a root is chosen after this time */
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
		if (!references_find(&c->references, d->waiting[i].key))
			references_add(&c->references, d->waiting[i].key,
				       clock_unified(&d->clock, d->waiting[i].own_ns), d->number);
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

/* Those without clock look at their references again, as others' clocks were found. */
static void look_again(struct clocks *c)
{
	while (c->joined) {
		c->joined = false;
		for (unsigned int i = 0; i < c->count; i++) {
			struct domain *d = c->list[i];

			d->samples.count = d->clock.known ? d->samples.count : 0;
			for (unsigned int n = 0; !d->clock.known && n < d->waiting_count; n++) {
				const struct waiting *w = &d->waiting[n];
				struct reference *e = references_find(&c->references, w->key);

				if (e && e->domain != d->number && seek_join(c, d, e, w->own_ns))
					break;
			}
		}
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

	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];

		if (d->clock.known)
			return NULL;
		if (d->arrived && (!best || d->waiting_count > best->waiting_count) &&
		    is_usual(c, d))
			best = d;
	}
	for (unsigned int i = 0; all && !best && i < c->count; i++) /* no two have one time */
		best = c->list[i]->arrived ? c->list[i] : NULL;
	return best && (all || best->newest_ns - best->first_ns >= ROOT_NS) ? best : NULL;
}

/* Another domain of the sensor whose clock may be found, and with it this one's. */
static bool has_hope(const struct clocks *c, const struct domain *d)
{
	for (const struct domain *o = c->of_sensor[d->sensor]; o; o = o->sibling)
		if (o->arrived && !o->ended && !o->clock.known)
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
	return (d->ended ? !has_hope(c, d) : d->newest_ns - d->first_ns >= patience) &&
	       (begun > d->others_ns ? begun : d->others_ns) + patience <= reached_ns;
}

/* Of several, the one with most references: others of the same part find their clocks by them. */
static struct domain *alone(const struct clocks *c, int64_t reached_ns)
{
	bool full = clocks_queued(c) >= CLOCKS_QUEUED_MOST;
	struct domain *best = NULL;

	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];

		if (d->arrived && !d->clock.known && is_alone(c, d, reached_ns, full) &&
		    (!best || d->waiting_count > best->waiting_count))
			best = d;
	}
	return best;
}

/* ---- radios with TSFT ------------------------------------------------------------------------ */

/* Own time at which the domain's sensor has stamped `stamp_ns`. A radio whose TSFT was reset had
 * another domain until then: what little an ended one has must do. */
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

static void cross_all(struct clocks *c, bool all)
{
	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i], *o = c->of_sensor[d->sensor];

		for (; o && d->follows == FOLLOWS_TSFT; o = o->sibling)
			if (o != d && o->clock.known && (!d->clock.known || o->part != d->part) &&
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
	struct domain *d = root(c, reached_ns == INT64_MAX);

	if (c->now_ns - c->looked_ns > LOOK_NS || reached_ns == INT64_MAX) {
		c->joined = true; /* others may have heard what those without clock have */
		c->looked_ns = c->now_ns;
	}
	look_again(c);
	if (d) {
		found(c, d, c->parts++);
		for (unsigned int i = 0; i < c->count; i++)
			c->list[i]->others_ns = clock_unified(&d->clock, d->newest_ns);
	}
	spread(c, reached_ns == INT64_MAX);
	while (c->parts && (d = alone(c, reached_ns))) {
		found(c, d, c->parts++);
		spread(c, reached_ns == INT64_MAX);
	}
}
