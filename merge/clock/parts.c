// SPDX-License-Identifier: GPL-2.0
/* Parts: see parts.h. */
#include "parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"

/* ---- numbers --------------------------------------------------------------------------------- */

/* The longest free number, if it has been free for long: transmissions of the air then know another
 * part by it. */
uint32_t parts_new(struct clocks *c)
{
	struct parts *p = &c->part;
	struct part *oldest = p->free ? &p->of[p->oldest] : NULL;
	uint32_t number = p->oldest;

	c->parts++;
	if (p->count < PARTS_FIRST || !oldest || c->now_ns - oldest->freed_ns < PARTS_FREE_NS)
		return p->count++;
	p->oldest = oldest->next;
	p->free--;
	*oldest = (struct part){ .is_free = false };
	return number;
}

static bool room(struct parts *p)
{
	uint32_t room = p->count + p->count / 2 + 16;
	struct part *more;

	if (p->count <= p->room)
		return true;
	more = realloc(p->of, room * sizeof(*more));
	if (!more)
		return false;
	memset(more + p->room, 0, (room - p->room) * sizeof(*more));
	p->of = more;
	p->room = room;
	return true;
}

bool parts_gather(struct clocks *c)
{
	struct parts *p = &c->part;

	if (!room(p))
		return false;
	for (uint32_t i = 0; i < p->count; i++)
		p->of[i].first = p->of[i].last = NULL;
	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];
		struct part *part = d->clock.known ? &p->of[d->part] : NULL;

		if (!part)
			continue;
		*(part->last ? &part->last->member : &part->first) = d;
		part->last = d;
		d->member = NULL;
	}
	return true;
}

void parts_give_back(struct clocks *c)
{
	struct parts *p = &c->part;

	if (!parts_gather(c))
		return;
	for (uint32_t i = 0; i < p->count; i++) {
		if (p->of[i].first || p->of[i].is_free)
			continue;
		p->of[i] = (struct part){ .is_free = true, .freed_ns = c->now_ns };
		*(p->free++ ? &p->of[p->newest].next : &p->oldest) = i;
		p->newest = i;
	}
}

/* ---- domains --------------------------------------------------------------------------------- */

/* Whether a part has no more domains than another one. Those that have ended do not count. */
static bool is_smaller(const struct clocks *c, uint32_t part, uint32_t other)
{
	unsigned int own = 0, others = 0;

	for (unsigned int i = 0; i < c->count; i++) {
		const struct domain *d = c->list[i];

		if (!d->clock.known || d->ended)
			continue;
		own += d->part == part;
		others += d->part == other;
	}
	return own <= others;
}

int parts_find_alone(struct clocks *c)
{
	enum { NOBODY, SEVERAL = UINT32_MAX }; /* else a sensor's index + 1 */
	uint32_t *of = calloc(c->part.count + 1, sizeof(*of)), all = NOBODY;

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

bool parts_are_several(const struct clocks *c)
{
	const struct domain *first = NULL;

	for (unsigned int i = 0; i < c->count; i++) {
		const struct domain *d = c->list[i];

		if (!d->clock.known || d->ended)
			continue;
		if (first && first->part != d->part)
			return true;
		first = d;
	}
	return false;
}

/* There are many references: a table of the domains is small. */
static void shift_references(struct clocks *c, uint32_t part, int64_t ns)
{
	struct reference *r = c->references.of;
	int64_t *shifts = malloc(c->count * sizeof(*shifts));

	for (unsigned int i = 0; shifts && i < c->count; i++)
		shifts[i] = c->list[i]->part == part ? ns : 0;
	for (uint64_t n = c->references.sets * REFERENCES_WAYS; n--; r++) {
		if (!r->used)
			continue;
		if (shifts)
			r->unified_ns += shifts[r->domain];
		else if (c->list[r->domain]->part == part)
			r->unified_ns += ns;
	}
	free(shifts);
}

void parts_shift(struct clocks *c)
{
	struct reference *r = c->references.of;

	for (uint64_t n = c->references.sets * REFERENCES_WAYS; n--; r++)
		if (r->used)
			r->unified_ns += c->part.of[c->list[r->domain]->part].shift_ns;
	for (unsigned int i = 0; i < c->count; i++)
		if (c->list[i]->clock.known)
			clock_shift(&c->list[i]->clock, c->part.of[c->list[i]->part].shift_ns);
}

/* The domains of `from` become those of `to`. */
static void move(struct clocks *c, uint32_t from, uint32_t to, int64_t shift_ns)
{
	shift_references(c, from, shift_ns);
	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];

		if (!d->clock.known || d->part != from)
			continue;
		clocks_say(c, d, "part_join");
		clock_shift(&d->clock, shift_ns);
		d->clock.generation++;
		d->clock.p00 += JOIN_SD_NS * JOIN_SD_NS;
		d->part = to;
		d->samples.count = 0;
	}
	c->part_joins++;
}

void parts_unite(struct clocks *c, uint32_t part, uint32_t other, int64_t distance_ns)
{
	if (is_smaller(c, part, other))
		move(c, part, other, distance_ns);
	else
		move(c, other, part, -distance_ns);
}

void parts_meet(struct clocks *c, struct domain *d, const struct reference *e, int64_t own_ns)
{
	uint32_t other = c->list[e->domain]->part;
	int64_t distance;
	double rate; /* not used: both parts follow the mean of their clocks */

	samples_add(&d->samples, e->unified_ns - clock_unified(&d->clock, own_ns), own_ns, other);
	if (samples_agree(&d->samples, &distance, &rate))
		parts_unite(c, d->part, other, distance);
}
