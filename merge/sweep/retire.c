// SPDX-License-Identifier: GPL-2.0
/* Retire: see retire.h. */
#include "retire.h"

#include "merge/clock/parts.h"

#define LEFT_LEAST 128	      /* domains that are looked at together */
#define LEFT_NS 61000000000LL /* references are used for less (arrive.c) */
#define LEFT_EACH 128	      /* domains of a sensor, */
#define LEFT_MOST 8192	      /* and of all: more than these do not wait for this time */

/* ---- choice ---------------------------------------------------------------------------------- */

static bool is_swept(const struct domain *d)
{
	return d->left && d->ended && d->queue.kept == d->queue.tail && !d->heap_at;
}

static void count_left(struct clocks *c)
{
	for (unsigned int i = 0; i < c->count; i++)
		c->of_sensor[c->list[i]->sensor].left = 0;
	for (unsigned int i = 0; i < c->count; i++) {
		struct domain *d = c->list[i];

		if (!d->left)
			continue;
		c->of_sensor[d->sensor].left++;
		d->left_ns = d->left_ns ?: c->now_ns;
	}
}

static bool is_old(const struct merge *m, const struct domain *d)
{
	int64_t before = m->clocks.now_ns - LEFT_NS;

	return !d->arrived || d->left_ns < before || domain_unified(d, d->newest_ns) < before;
}

static bool is_many(const struct merge *m, const struct domain *d)
{
	return m->clocks.of_sensor[d->sensor].left > LEFT_EACH || m->radios.left > LEFT_MOST;
}

/* Whether the table of clocks, if there is one, has the domain's last line. */
static bool is_told(const struct merge *m, const struct domain *d)
{
	return !m->clocks.changed || d->told || !d->arrived;
}

static bool is_in_epoch(const struct level *l, const struct domain *d)
{
	return d->number < l->domain_room && l->slots[d->number];
}

/* Returns whether some retire. */
static bool choose(struct merge *m)
{
	bool any = false;

	for (unsigned int i = 0; i < m->clocks.count; i++) {
		struct domain *d = m->clocks.list[i];

		d->retires = is_swept(d) && !is_in_epoch(&m->level, d) &&
			     (is_many(m, d) || (is_old(m, d) && is_told(m, d)));
		any |= d->retires;
	}
	return any;
}

/* ---- what keeps domains ---------------------------------------------------------------------- */

static void keep(struct clocks *c, const struct heard *h)
{
	for (; h; h = h->next)
		c->list[h->domain]->retires = false;
}

static void keep_heard(struct merge *m)
{
	for (const struct transmission *t = m->match.oldest; t; t = t->newer) {
		keep(&m->clocks, t->first);
		keep(&m->clocks, t->damaged);
	}
	for (uint32_t i = 0; i < m->order.count; i++) {
		const struct transmission *t = m->order.heap[i].what;

		keep(&m->clocks, t->first);
		keep(&m->clocks, t->damaged);
	}
}

/* Others may still hear a reference. */
static void keep_referred(struct merge *m)
{
	const struct references *r = &m->clocks.references;

	for (uint64_t i = 0; i < r->sets * REFERENCES_WAYS; i++) {
		struct domain *d = r->of[i].used ? m->clocks.list[r->of[i].domain] : NULL;

		if (d && d->retires && !is_many(m, d) &&
		    r->of[i].unified_ns >= m->clocks.now_ns - LEFT_NS)
			d->retires = false;
	}
}

/* ---------------------------------------------------------------------------------------------- */

static bool retires(void *clocks, uint32_t domain)
{
	return ((struct clocks *)clocks)->list[domain]->retires;
}

void retire(struct merge *m)
{
	struct clocks *c = &m->clocks;

	if (m->radios.left < LEFT_LEAST + m->retire_at)
		return;
	count_left(c);
	if (choose(m)) {
		keep_heard(m);
		keep_referred(m);
		references_forget(&c->references, retires, c);
		for (unsigned int i = 0; i < c->count; i++)
			if (c->list[i]->retires) {
				clocks_give_back(c, c->list[i]);
				m->radios.left--;
			}
		parts_give_back(c);
	}
	m->retire_at = m->radios.left < LEFT_MOST / 2 ? 2 * m->radios.left
						      : m->radios.left + LEFT_MOST / 8;
}
