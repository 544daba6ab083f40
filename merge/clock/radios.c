// SPDX-License-Identifier: GPL-2.0
/* Radios: see radios.h. */
#include "radios.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "merge/frame/identity.h"
#include "own.h"

#define RESETS_MOST 4
#define RESETS_NS 60000000000LL

static bool sensor_room(struct radios *s, uint32_t sensor)
{
	uint32_t room = 2 * s->sensor_room + sensor + 16;
	uint32_t *more;

	if (sensor < s->sensor_room)
		return true;
	more = realloc(s->of, room * sizeof(*more));
	if (!more)
		return false;
	memset(more + s->sensor_room, 0, (room - s->sensor_room) * sizeof(*more));
	s->of = more;
	s->sensor_room = room;
	return true;
}

int64_t radios_add(struct radios *s, uint32_t sensor, uint8_t number)
{
	uint32_t *last;

	if (s->count == s->room) {
		uint32_t room = 2 * s->room + 64;
		void *more = realloc(s->list, room * sizeof(*s->list));

		if (!more)
			return -ENOMEM;
		s->list = more;
		s->room = room;
	}
	if (!sensor_room(s, sensor))
		return -ENOMEM;
	s->list[s->count] = (struct radio){ .sensor = sensor, .number = number };
	for (last = &s->of[sensor]; *last; last = &s->list[*last - 1].next)
		;
	*last = ++s->count;
	return s->count - 1;
}

void radios_free(struct radios *s)
{
	free(s->list);
	free(s->of);
	*s = (struct radios){ .list = NULL };
}

/* The sensor's first radio, and the next one; NULL: no more. */
static struct radio *first(struct radios *s, uint32_t sensor)
{
	return sensor < s->sensor_room && s->of[sensor] ? &s->list[s->of[sensor] - 1] : NULL;
}

static struct radio *next(struct radios *s, const struct radio *r)
{
	return r->next ? &s->list[r->next - 1] : NULL;
}

/* ---- receptions ------------------------------------------------------------------------------ */

/* Sets a radio's domain. If no radio refers to the old one any more, nothing more comes of it. */
static void refer(struct radios *s, struct domain **at, struct domain *d)
{
	struct domain *old = *at;

	if (d)
		d->radios++;
	if (old && !--old->radios) {
		old->left = true;
		s->left++;
	}
	*at = d;
}

/* The domain of the radio, or of the sensor's radios without TSFT. */
static struct domain *domain_of(struct radios *s, struct clocks *c, struct radio *radio)
{
	for (const struct radio *o = first(s, radio->sensor); o && !radio->domain && !radio->tsft;
	     o = next(s, o))
		if (!o->tsft)
			refer(s, &radio->domain, o->domain);
	if (!radio->domain)
		refer(s, &radio->domain, clocks_add(c, radio->sensor));
	return radio->domain;
}

/* The radio goes to another domain. Nothing more comes of its old one, if it was the last. */
static void leave(struct radios *s, struct radio *radio)
{
	struct domain *old = radio->domain;

	refer(s, &radio->domain, NULL);
	for (const struct radio *o = first(s, radio->sensor); old && o; o = next(s, o))
		if (o->domain == old)
			return;
	if (old)
		old->ended = true;
}

/* The radio's TSFT was reset. If that happens again and again, its stamps are better. Returns the
 * domain that begins, or NULL without memory. */
static struct domain *reset(struct radios *s, struct clocks *c, struct radio *radio,
			    const struct reception *r)
{
	struct domain *old = radio->domain, *d;

	if (!radio->resets || r->stamp_ns - radio->reset_ns > RESETS_NS) {
		radio->resets = 0;
		radio->reset_ns = r->stamp_ns;
	}
	radio->tsft = ++radio->resets < RESETS_MOST;
	leave(s, radio);
	d = domain_of(s, c, radio);
	if (d && radio->tsft)
		own_tsft(d, r->stamp_ns, r->own_ns);
	return d && !own_move(old, d) ? d : NULL;
}

static void place_by_tsft(struct domain *d, struct reception *r)
{
	r->own_ns += d->stepped_ns;
	if (d->doubted) {
		r->finds = r->tracks = false;
		return;
	}
	d->stamp_ns = r->stamp_ns;
	bridge_note(&d->arrived_by, r->own_ns, r->stamp_ns - r->own_ns);
}

struct domain *radios_place(struct radios *s, struct clocks *c, struct reception *r,
			    struct domain **left)
{
	struct radio *radio = &s->list[r->radio];
	struct domain *d;

	*left = NULL;
	if (!radio->seen && r->has_tsft) { /* not what readings or opaque frames have made */
		leave(s, radio);
		radio->tsft = true;
	}
	radio->seen |= r->class != FRAME_OPAQUE;
	d = domain_of(s, c, radio);
	if (d && radio->tsft && r->has_tsft && !own_tsft(d, r->stamp_ns, r->own_ns)) {
		*left = d;
		d = reset(s, c, radio, r);
	}
	if (!d)
		return NULL;
	if (radio->tsft && r->has_tsft) {
		place_by_tsft(d, r);
		return d;
	}
	r->own_ns = own_time(d, r->stamp_ns);
	if (radio->tsft)
		r->finds = r->tracks = false;
	return d;
}

/* ---- what sensors say ------------------------------------------------------------------------ */

void radios_nothing_before(struct radios *s, uint32_t sensor, int64_t stamp_ns)
{
	for (const struct radio *o = first(s, sensor); o; o = next(s, o)) {
		struct domain *d = o->domain;

		if (d && d->arrived && own_time(d, stamp_ns) > d->newest_ns)
			d->newest_ns = own_time(d, stamp_ns);
	}
}

/* The radios of a sensor that has no radio yet get theirs with their first reception. */
void radios_reading(struct radios *s, struct clocks *c, uint32_t sensor, int64_t monotonic_ns,
		    int64_t difference_ns, int64_t raw_ns)
{
	for (struct radio *o = first(s, sensor); o; o = next(s, o)) {
		struct domain *d = o->tsft ? NULL : domain_of(s, c, o);

		if (!d || own_reading(d, monotonic_ns, difference_ns, raw_ns))
			continue;
		radios_new_run(s, c, sensor);
		d = domain_of(s, c, o);
		if (d)
			own_reading(d, monotonic_ns, difference_ns, raw_ns);
	}
}

void radios_ahead(struct radios *s, uint32_t sensor, int64_t ahead_ns, int64_t round_trip_ns,
		  int64_t at_ns)
{
	for (const struct radio *o = first(s, sensor); o; o = next(s, o))
		if (o->domain)
			own_ahead(o->domain, ahead_ns, round_trip_ns, at_ns);
}

/* The old domain's receptions are swept by its own clock. */
void radios_new_run(struct radios *s, struct clocks *c, uint32_t sensor)
{
	clocks_new_run(c, sensor);
	radios_ended(s, sensor);
	for (struct radio *o = first(s, sensor); o; o = next(s, o)) {
		refer(s, &o->before, o->domain);
		refer(s, &o->domain, NULL);
	}
}

/* Domains stay those of their run. */
void radios_run_before(struct radios *s, struct clocks *c, uint32_t sensor)
{
	clocks_run_before(c, sensor);
	radios_ended(s, sensor);
	for (struct radio *o = first(s, sensor); o; o = next(s, o)) {
		struct domain *d = o->before;

		o->before = o->domain;
		o->domain = d;
		if (d)
			d->ended = false;
	}
}

void radios_ended(struct radios *s, uint32_t sensor)
{
	for (const struct radio *o = first(s, sensor); o; o = next(s, o))
		if (o->domain)
			o->domain->ended = true;
}
