// SPDX-License-Identifier: GPL-2.0
/* Clocks: see clocks.h. */
#include "clocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "merge/frame/identity.h"

#define SETS (64 * 1024)
#define GAPS 64
#define GAP_MOST_NS 500000000LL
#define ALONE_NS 2100000000LL
#define SPARSE_NS 10000000000LL
#define AGE_BEACON_NS 60000000000LL
#define AGE_NS 10000000000LL
#define OFF_NS 300000
#define OFF_FOR_NS 1000000000LL
#define CROSS_NS 10000000000LL /* between stamps of a radio's domains */

int clocks_init(struct clocks *c)
{
	*c = (struct clocks){ .alone_ns = ALONE_NS, .sparse_ns = SPARSE_NS };
	return references_init(&c->references, SETS);
}

void clocks_free(struct clocks *c)
{
	for (unsigned int i = 0; i < c->count; i++) {
		queue_free(&c->list[i]->queue);
		free(c->list[i]->waiting);
		free(c->list[i]);
	}
	free(c->list);
	free(c->commons);
	references_free(&c->references);
	c->list = NULL;
	c->count = 0;
}

struct domain *clocks_add(struct clocks *c, uint32_t sensor)
{
	struct domain *d = calloc(1, sizeof(*d)), **more;

	if (d && c->count == c->room) {
		more = realloc(c->list, (2 * c->room + 16) * sizeof(*more));
		if (!more) {
			free(d);
			return NULL;
		}
		c->list = more;
		c->room = 2 * c->room + 16;
	}
	if (!d)
		return NULL;
	d->number = c->count;
	d->sensor = sensor;
	c->list[c->count++] = d;
	return d;
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

static void wait_for_clock(struct domain *d, const struct reception *r)
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

static void say(struct clocks *c, struct domain *d, const char *event)
{
	if (c->changed)
		c->changed(c->context, d, event);
}

/* Takes what others say of a transmission that a domain without clock has heard. Returns whether
 * the clock is now known. */
static bool join(struct clocks *c, struct domain *d, const struct reference *e, int64_t own_ns)
{
	int64_t distance;

	samples_add(&d->samples, e->unified_ns - own_ns, own_ns, c->list[e->domain]->part);
	if (!samples_agree(&d->samples, &distance))
		return false;
	d->part = d->samples.part;
	clock_set(&d->clock, own_ns, distance, JOIN_SD_NS, JOIN_SD_RATE);
	d->samples.count = 0;
	c->joins++;
	publish(c, d);
	say(c, d, "join");
	return true;
}

static void found(struct clocks *c, struct domain *d, uint32_t part)
{
	d->part = part;
	clock_set(&d->clock, d->newest_ns, d->coarse_ns, JOIN_SD_NS, JOIN_SD_RATE);
	d->samples.count = 0;
	publish(c, d);
	say(c, d, "part");
}

/* ---- parts ----------------------------------------------------------------------------------- */

static unsigned int members(const struct clocks *c, uint32_t part)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->count; i++)
		n += c->list[i]->clock.known && c->list[i]->part == part && !c->list[i]->ended;
	return n;
}

int clocks_find_alone(struct clocks *c)
{
	enum { NOBODY, SEVERAL = UINT32_MAX }; /* else a sensor's index + 1 */
	uint32_t *of = calloc(c->parts + 1, sizeof(*of)), all = NOBODY;

	if (!of)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->count; i++) {
		const struct domain *d = c->list[i];
		uint32_t sensor = d->sensor + 1;

		if (!d->clock.known)
			continue;
		of[d->part] = of[d->part] == NOBODY || of[d->part] == sensor ? sensor : SEVERAL;
		all = all == NOBODY || all == sensor ? sensor : SEVERAL;
	}
	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];

		d->alone = d->clock.known && all == SEVERAL && of[d->part] != SEVERAL;
	}
	free(of);
	return 0;
}

void references_shift(struct clocks *c, uint32_t part, int64_t ns)
{
	struct reference *r = c->references.of;

	for (uint64_t n = c->references.sets * REFERENCES_WAYS; n--; r++)
		if (r->used && c->list[r->domain]->part == part)
			r->unified_ns += ns;
}

/* The domains of `from` become those of `to`. */
static void parts_join(struct clocks *c, uint32_t from, uint32_t to, int64_t shift_ns)
{
	references_shift(c, from, shift_ns);
	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];

		if (!d->clock.known || d->part != from)
			continue;
		say(c, d, "part_join");
		clock_shift(&d->clock, shift_ns);
		d->clock.generation++;
		d->clock.p00 += JOIN_SD_NS * JOIN_SD_NS;
		d->part = to;
		d->samples.count = 0;
	}
	c->part_joins++;
}

static void other_part(struct clocks *c, struct domain *d, const struct reference *e,
		       int64_t own_ns)
{
	uint32_t other = c->list[e->domain]->part;
	int64_t distance;

	samples_add(&d->samples, e->unified_ns - clock_unified(&d->clock, own_ns), own_ns, other);
	if (!samples_agree(&d->samples, &distance))
		return;
	if (members(c, d->part) <= members(c, other))
		parts_join(c, d->part, other, distance);
	else
		parts_join(c, other, d->part, -distance);
}

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
	say(c, d, "step");
	domain_step(d, step_ns);
	c->steps++;
}

/* Whether the clock has been found to be off, and is not yet corrected. */
static bool is_off(const struct domain *d, int64_t own_ns)
{
	return d->suspects.count ||
	       (llabs(d->good_off_ns) > OFF_NS && own_ns - d->good_ns < OFF_FOR_NS);
}

/* ---- arrivals -------------------------------------------------------------------------------- */

/* How long the domain is without references that fit, at most. The longest times count, but not for
 * ever. */
static void note_gap(struct domain *d, int64_t gap_ns)
{
	gap_ns = gap_ns < 0 || gap_ns > GAP_MOST_NS ? GAP_MOST_NS : gap_ns;
	d->good_gap_ns = gap_ns > d->good_gap_ns ? gap_ns : d->good_gap_ns - d->good_gap_ns / GAPS;
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
		wait_for_clock(d, r);
		if (e && heard_by(c, d, e, beacon))
			join(c, d, e, r->own_ns);
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
		other_part(c, d, e, r->own_ns);
	} else {
		d->suspects.least_ns = 2 * d->good_gap_ns;
		before = d->good_ns;
		same_part(c, d, e, r, unified);
		if (d->good == d->queue.tail - 1)
			note_gap(d, r->own_ns - before);
	}
}

void clocks_arrived(struct clocks *c, struct domain *d)
{
	struct reception *r = queue_at(&d->queue, d->queue.tail - 1);
	int64_t now;

	if (!d->arrived)
		d->first_ns = r->own_ns;
	d->arrived = true;
	d->newest_ns = r->own_ns;
	if (r->finds)
		reference_arrived(c, d, r);
	now = domain_unified(d, r->own_ns);
	if (d->clock.known && (now > c->now_ns || !c->now_ns))
		c->now_ns = now;
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

				if (e && e->domain != d->number && join(c, d, e, w->own_ns))
					break;
			}
		}
	}
}

/* The first root: who has most references after a second. */
static struct domain *root(const struct clocks *c, bool all)
{
	struct domain *best = NULL;

	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];

		if (d->clock.known)
			return NULL;
		if (d->arrived && (!best || d->waiting_count > best->waiting_count))
			best = d;
	}
	return best && (all || best->newest_ns - best->first_ns >= ROOT_NS) ? best : NULL;
}

/* Another domain of the sensor whose clock may be found, and with it this one's. */
static bool has_hope(const struct clocks *c, const struct domain *d)
{
	for (unsigned int i = 0; i < c->count; i++)
		if (c->list[i]->sensor == d->sensor && c->list[i]->arrived && !c->list[i]->ended &&
		    !c->list[i]->clock.known)
			return true;
	return false;
}

/* Whether the domain shares nothing with others, which have come as far. If it shares a little, it
 * waits for more. */
static bool is_alone(const struct clocks *c, const struct domain *d, int64_t reached_ns)
{
	int64_t patience = d->samples.count ? c->sparse_ns : c->alone_ns;

	if (reached_ns == INT64_MAX)
		return true;
	return (d->ended ? !has_hope(c, d) : d->newest_ns - d->first_ns >= patience) &&
	       domain_unified(d, d->first_ns) + patience <= reached_ns;
}

static struct domain *alone(const struct clocks *c, int64_t reached_ns)
{
	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];

		if (d->arrived && !d->clock.known && is_alone(c, d, reached_ns))
			return d;
	}
	return NULL;
}

/* Own time at which the domain's sensor has stamped `stamp_ns`. A radio whose TSFT was reset had
 * another domain until then: what little an ended one has must do. */
static bool own_at(const struct domain *d, int64_t stamp_ns, int64_t *own_ns)
{
	double variance;
	int64_t ahead;

	if (d->follows != FOLLOWS_TSFT || !d->arrived)
		return false;
	if (d->ended && llabs(d->stamp_ns - stamp_ns) > CROSS_NS)
		return false;
	if (!bridge_ahead(&d->arrived_by, d->newest_ns, &ahead, &variance)) {
		if (!d->ended)
			return false;
		ahead = d->arrived_by.of[0].ahead_ns;
	}
	*own_ns = stamp_ns - ahead;
	return true;
}

/* A radio whose sensor has another one with a TSFT. */
static void cross(struct clocks *c, struct domain *d, const struct domain *other)
{
	int64_t own, others, distance;

	if (!own_at(d, d->stamp_ns, &own) || !own_at(other, d->stamp_ns, &others))
		return;
	distance = clock_unified(&other->clock, others) - domain_unified(d, own);
	if (d->clock.known && members(c, d->part) <= members(c, other->part)) {
		parts_join(c, d->part, other->part, distance);
	} else if (d->clock.known) {
		parts_join(c, other->part, d->part, -distance);
	} else {
		d->part = other->part;
		clock_set(&d->clock, own, d->coarse_ns + distance, JOIN_SD_NS, JOIN_SD_RATE);
		c->joins++;
		publish(c, d);
		say(c, d, "join");
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
		struct domain *d = c->list[i];

		for (unsigned int k = 0; k < c->count && d->follows == FOLLOWS_TSFT; k++) {
			const struct domain *other = c->list[k];

			if (other->sensor == d->sensor && other != d && other->clock.known &&
			    (!d->clock.known || other->part != d->part) &&
			    (!other->ended || may_cross(d, all)))
				cross(c, d, other);
		}
	}
}

static void spread(struct clocks *c, bool all)
{
	look_again(c);
	cross_all(c, all);
	look_again(c);
}

void clocks_look(struct clocks *c, int64_t reached_ns)
{
	struct domain *d = root(c, reached_ns == INT64_MAX);

	look_again(c);
	if (d)
		found(c, d, c->parts++);
	spread(c, reached_ns == INT64_MAX);
	while (c->parts && (d = alone(c, reached_ns))) {
		found(c, d, c->parts++);
		spread(c, reached_ns == INT64_MAX);
	}
}
