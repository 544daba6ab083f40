// SPDX-License-Identifier: GPL-2.0
/* Wanted: see wanted.h. */
#include "wanted.h"

#include <stdlib.h>
#include <string.h>

static uint64_t waiting_count(const struct clocks *c)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < c->count; i++)
		n += c->list[i]->waiting_count;
	return n;
}

static uint32_t *bucket(const struct wanted *w, uint64_t key)
{
	return &w->first[(key ^ key >> 32) & w->mask];
}

static void fill(struct clocks *c)
{
	struct wanted *w = &c->wanted;
	uint32_t n = 0;

	for (unsigned int i = 0; i < c->count; i++)
		for (unsigned int k = 0; k < c->list[i]->waiting_count; k++) {
			uint32_t *first = bucket(w, c->list[i]->waiting[k].key);

			w->of[n] = (struct wanted_entry){ i, k, *first };
			*first = ++n;
		}
}

void wanted_begin(struct clocks *c)
{
	struct wanted *w = &c->wanted;
	uint64_t n = waiting_count(c), buckets = 1024;

	if (w->active || n >= UINT32_MAX)
		return;
	while (buckets < n)
		buckets *= 2;
	w->mask = buckets - 1;
	w->words = c->count / 64 + 1;
	w->of = malloc((n + 1) * sizeof(*w->of));
	w->first = calloc(buckets, sizeof(*w->first));
	w->look = calloc(w->words, sizeof(*w->look));
	w->cross = calloc(w->words, sizeof(*w->cross));
	w->active = true;
	if (w->of && w->first && w->look && w->cross)
		fill(c);
	else
		wanted_end(c);
}

void wanted_end(struct clocks *c)
{
	free(c->wanted.of);
	free(c->wanted.first);
	free(c->wanted.look);
	free(c->wanted.cross);
	c->wanted = (struct wanted){ .active = false };
}

static void set(uint64_t *bits, uint32_t number)
{
	bits[number / 64] |= 1ULL << number % 64;
}

void wanted_reference(struct clocks *c, uint64_t key)
{
	struct wanted *w = &c->wanted;

	for (uint32_t i = w->active ? *bucket(w, key) : 0; i; i = w->of[i - 1].next) {
		const struct wanted_entry *e = &w->of[i - 1];
		const struct domain *d = c->list[e->domain];

		if (d->waiting && d->waiting[e->waiting].key == key)
			set(w->look, e->domain);
	}
}

void wanted_clock(struct clocks *c, const struct domain *d)
{
	const struct clocks_sensor *s = &c->of_sensor[d->sensor];

	if (!c->wanted.active)
		return;
	for (const struct domain *o = s->first; o; o = o->sibling)
		set(c->wanted.cross, o->number);
	if (s->first != s->last) /* one that has ended may have waited for this one */
		c->wanted.from = 0;
}

void wanted_all(struct clocks *c)
{
	if (c->wanted.active)
		memset(c->wanted.look, 0xff, c->wanted.words * sizeof(*c->wanted.look));
}

/* Takes the next bit away. */
static uint32_t take(const struct clocks *c, uint64_t *bits, uint32_t from)
{
	for (uint32_t i = from / 64; i < c->wanted.words; i++) {
		uint64_t rest = bits[i] & (i == from / 64 ? ~0ULL << from % 64 : ~0ULL);
		uint32_t number = i * 64 + (rest ? __builtin_ctzll(rest) : 0);

		if (!rest)
			continue;
		bits[i] &= ~(1ULL << number % 64);
		return number < c->count ? number : UINT32_MAX;
	}
	return UINT32_MAX;
}

uint32_t wanted_look(struct clocks *c, uint32_t from)
{
	if (!c->wanted.active)
		return from < c->count ? from : UINT32_MAX;
	from = take(c, c->wanted.look, from);
	c->wanted.from = from < c->wanted.from ? from : c->wanted.from;
	return from;
}

uint32_t wanted_cross(struct clocks *c, uint32_t from)
{
	if (!c->wanted.active)
		return from < c->count ? from : UINT32_MAX;
	return take(c, c->wanted.cross, from);
}
