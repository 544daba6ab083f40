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
#define ALONE_NS 2100000000LL
#define SPARSE_NS 10000000000LL
#define AGE_BEACON_NS 60000000000LL
#define AGE_NS 10000000000LL
#define OFF_NS 300000
#define OFF_FOR_NS 1000000000LL

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

/* The other domain that has heard it, or NULL. */
static const struct domain *heard_by(const struct clocks *c, const struct domain *d,
				     const struct reference *e, bool beacon)
{
	int64_t age = c->now_ns - e->unified_ns;

	if (e->domain == d->number || age > (beacon ? AGE_BEACON_NS : AGE_NS))
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

static void reference_arrived(struct clocks *c, struct domain *d, struct reception *r)
{
	struct reference *e = references_find(&c->references, r->key);
	bool beacon = r->class == FRAME_BEACON;
	int64_t unified;

	if (!d->clock.known) {
		wait_for_clock(d, r);
		if (e && heard_by(c, d, e, beacon))
			join(c, d, e, r->own_ns);
		return;
	}
	unified = clock_unified(&d->clock, r->own_ns);
	if (!e || !heard_by(c, d, e, beacon)) {
		if (!is_off(d, r->own_ns) && (!e || e->domain != d->number))
			references_add(&c->references, r->key, unified, d->number);
	} else if (c->list[e->domain]->part != d->part) {
		other_part(c, d, e, r->own_ns);
	} else {
		same_part(c, d, e, r, unified);
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

uint64_t clocks_queued(const struct clocks *c)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < c->count; i++)
		sum += c->list[i]->queue.tail - c->list[i]->queue.head;
	return sum;
}

static bool waits(const struct clocks *c, const struct domain *d)
{
	int64_t since = d->newest_ns - d->first_ns;

	if (since < c->alone_ns)
		return true;
	return d->samples.count && since < c->sparse_ns && clocks_queued(c) < CLOCKS_QUEUED_MOST;
}

/* A domain that shares nothing with others. */
static struct domain *alone(const struct clocks *c, bool all)
{
	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];

		if (d->arrived && !d->clock.known && (all || d->ended || !waits(c, d)))
			return d;
	}
	return NULL;
}

/* Unified time at which the domain's sensor has stamped `stamp_ns`, as its TSFT has it. */
static bool unified_at(const struct domain *d, int64_t stamp_ns, int64_t *own_ns)
{
	double variance;
	int64_t ahead;

	if (d->follows != FOLLOWS_TSFT || d->ended ||
	    !bridge_ahead(&d->arrived_by, d->newest_ns, &ahead, &variance))
		return false;
	*own_ns = stamp_ns - ahead;
	return true;
}

/* A radio whose sensor has another one with a TSFT. */
static void cross(struct clocks *c, struct domain *d, const struct domain *other)
{
	int64_t own, others, distance;

	if (!unified_at(d, d->stamp_ns, &own) || !unified_at(other, d->stamp_ns, &others))
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

static void cross_all(struct clocks *c)
{
	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];

		for (unsigned int k = 0; k < c->count && d->follows == FOLLOWS_TSFT; k++) {
			const struct domain *other = c->list[k];

			if (other->sensor == d->sensor && other != d && other->clock.known &&
			    (!d->clock.known || other->part != d->part))
				cross(c, d, other);
		}
	}
}

void clocks_look(struct clocks *c, bool all)
{
	struct domain *d = root(c, all);

	look_again(c);
	if (d)
		found(c, d, c->parts++);
	look_again(c);
	cross_all(c);
	look_again(c);
	while (c->parts && (d = alone(c, all))) {
		found(c, d, c->parts++);
		look_again(c);
	}
}
