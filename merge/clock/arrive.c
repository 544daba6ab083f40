// SPDX-License-Identifier: GPL-2.0
/* Arrive: see arrive.h. */
#include "arrive.h"

#include <math.h>
#include <stdlib.h>

#include "find.h"
#include "merge/frame/identity.h"
#include "parts.h"
#include "seek.h"

#define GAPS 64
#define GAP_MOST_NS 500000000LL
#define AGE_BEACON_NS 60000000000LL
#define AGE_NS 10000000000LL
#define OFF_NS 300000
#define FAR_NS 1000000000LL
#define SURE_NS 10000000000LL
#define OFFS 3 /* one after the other: not only late stamps */
#define OFF_FOR_NS 1000000000LL

/* ---- steps ----------------------------------------------------------------------------------- */

static void same_part(struct clocks *c, struct domain *d, const struct reference *e,
		      const struct reception *r, int64_t unified_ns)
{
	int64_t off = e->unified_ns - unified_ns, step_ns;
	struct mark now = { r->own_ns, e->unified_ns - r->own_ns };
	uint64_t number = d->queue.tail - 1;

	/* A clock whose rate is not known may be far off. */
	if (llabs(off) < fmax(STEP_NS, 5 * sqrt(clock_variance(&d->clock, r->own_ns))) ||
	    course_fits(&d->course, &d->clock, &now)) {
		d->good = number;
		d->good_ns = r->own_ns;
		d->good_off_ns = off;
		course_add(&d->course, &d->clock, &now);
		d->suspects.count = 0;
		return;
	}
	off -= course_off(&d->course, &d->clock);
	if (!suspects_add(&d->suspects, off, e->domain, r->own_ns, number) ||
	    !suspects_agree(&d->suspects, &step_ns))
		return;
	clocks_say(c, d, "step");
	domain_step(d, step_ns);
	c->steps++;
}

/* Whether the clock has been found to be off, and is not yet corrected. */
static bool is_off(const struct domain *d, int64_t own_ns)
{
	return d->suspects.count || (d->offs >= OFFS && own_ns - d->good_ns < OFF_FOR_NS);
}

/* How long the domain is without references that fit, at most. The longest times count, but not for
 * ever. */
static void note_gap(struct domain *d, int64_t gap_ns)
{
	gap_ns = gap_ns < 0 || gap_ns > GAP_MOST_NS ? GAP_MOST_NS : gap_ns;
	d->good_gap_ns = gap_ns > d->good_gap_ns ? gap_ns : d->good_gap_ns - d->good_gap_ns / GAPS;
}

/* ---- references ------------------------------------------------------------------------------ */

static bool is_old(const struct clocks *c, const struct reference *e, bool beacon)
{
	return c->now_ns - e->unified_ns > (beacon ? AGE_BEACON_NS : AGE_NS);
}

/* The other domain that has heard it, or NULL. */
static const struct domain *heard_by(const struct clocks *c, const struct domain *d,
				     const struct reference *e, bool beacon)
{
	if (e->domain == d->number || e->replayed || is_old(c, e, beacon))
		return NULL;
	return c->list[e->domain];
}

/* Nobody knows when a frame was first sent that is heard again and again. */
static bool is_replayed(struct clocks *c, const struct domain *d, struct reference *e,
			int64_t unified_ns)
{
	bool before = e->replayed, now = references_replayed(e, d->number, unified_ns);

	c->replayed += now && !before;
	return now;
}

static void reference_arrived(struct clocks *c, struct domain *d, struct reception *r)
{
	struct reference *e = references_find(&c->references, r->key);
	bool beacon = r->class == FRAME_BEACON;
	int64_t unified, before;

	if (!d->clock.known) {
		seek_wait(d, r);
		if (e && heard_by(c, d, e, beacon))
			seek_join(c, d, e, r->own_ns);
		return;
	}
	unified = clock_unified(&d->clock, r->own_ns);
	if (e && !is_old(c, e, beacon) && is_replayed(c, d, e, unified)) {
		r->tracks = false;
		return;
	}
	if (!e || !heard_by(c, d, e, beacon)) {
		if (!is_off(d, r->own_ns) && (!e || e->domain != d->number))
			references_add(&c->references, r->key, unified, d->number);
	} else if (c->list[e->domain]->part != d->part) {
		parts_meet(c, d, e, r->own_ns);
	} else {
		d->suspects.least_ns = 2 * d->good_gap_ns;
		before = d->good_ns;
		same_part(c, d, e, r, unified);
		if (d->good == d->queue.tail - 1) {
			note_gap(d, r->own_ns - before);
			d->offs = llabs(d->good_off_ns) > OFF_NS ? d->offs + 1 : 0;
		}
	}
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Sets the newest time. If a sensor is far ahead of it, another sensor must come as far, or this
 * one must stay ahead for long. Otherwise one wrong stamp would make all others late. */
static void advance(struct clocks *c, const struct domain *d, int64_t now)
{
	uint32_t sensor = d->sensor + 1;

	if (!c->now_ns || now <= c->now_ns + FAR_NS) {
		c->now_ns = now > c->now_ns || !c->now_ns ? now : c->now_ns;
		c->ahead_of = c->ahead_of == sensor ? 0 : c->ahead_of;
	} else if (!c->ahead_of) {
		c->ahead_of = sensor;
		c->ahead_ns = now;
	} else if (c->ahead_of != sensor || now - c->ahead_ns > SURE_NS) {
		c->now_ns = c->ahead_of == sensor || now < c->ahead_ns ? now : c->ahead_ns;
		c->ahead_of = 0;
	}
}

/* If the last but one was ahead of all, and the last one is not, its stamp was wrong. It takes the
 * time of the last one, and has nothing in common with others. Returns whether it was so. */
static bool put_back(struct clocks *c, struct domain *d)
{
	const struct reception *r = queue_at(&d->queue, d->queue.tail - 1);
	struct reception *wrong = queue_at(&d->queue, d->queue.tail - 2);

	if (d->queue.tail - d->queue.head < 2 || d->follows == FOLLOWS_TSFT ||
	    wrong->class == FRAME_OPAQUE || r->class == FRAME_OPAQUE ||
	    wrong->own_ns - r->own_ns < FAR_NS ||
	    domain_unified(d, wrong->own_ns) < c->now_ns + FAR_NS)
		return false;
	wrong->own_ns = r->own_ns;
	wrong->key = ~wrong->key;
	wrong->flags |= HEARD_UNALIGNED;
	wrong->finds = wrong->tracks = false;
	c->misdated++;
	return true;
}

bool arrive(struct clocks *c, struct domain *d)
{
	struct reception *r = queue_at(&d->queue, d->queue.tail - 1);
	bool changed = put_back(c, d);

	if (!d->arrived) {
		d->first_ns = r->own_ns;
		d->others_ns = c->now_ns;
	}
	d->arrived = true;
	d->newest_ns = r->own_ns;
	if (r->finds)
		reference_arrived(c, d, r);
	if (d->clock.known)
		advance(c, d, domain_unified(d, r->own_ns));
	return changed;
}
