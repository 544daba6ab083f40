// SPDX-License-Identifier: GPL-2.0
/* Parts: see parts.h. */
#include "parts.h"

#include <errno.h>
#include <stdlib.h>

#include "find.h"

static unsigned int members(const struct clocks *c, uint32_t part)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->count; i++)
		n += c->list[i]->clock.known && c->list[i]->part == part && !c->list[i]->ended;
	return n;
}

int parts_find_alone(struct clocks *c)
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

void parts_shift_references(struct clocks *c, uint32_t part, int64_t ns)
{
	struct reference *r = c->references.of;

	for (uint64_t n = c->references.sets * REFERENCES_WAYS; n--; r++)
		if (r->used && c->list[r->domain]->part == part)
			r->unified_ns += ns;
}

/* The domains of `from` become those of `to`. */
static void move(struct clocks *c, uint32_t from, uint32_t to, int64_t shift_ns)
{
	parts_shift_references(c, from, shift_ns);
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
	if (members(c, part) <= members(c, other))
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
