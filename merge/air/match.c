// SPDX-License-Identifier: GPL-2.0
/* Match: see match.h. */
#include "match.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "merge/frame/identity.h"
#include "merge/model/chunk.h"

#define SLAB 1024 /* objects */

/* ---- memory ---------------------------------------------------------------------------------- */

static bool pool_grow(struct pool *p)
{
	void **more;
	char *slab;

	if (p->count == p->room) {
		more = realloc(p->slabs, (2 * p->room + 8) * sizeof(*more));
		if (!more)
			return false;
		p->slabs = more;
		p->room = 2 * p->room + 8;
	}
	slab = malloc(SLAB * p->size);
	if (!slab)
		return false;
	p->slabs[p->count++] = slab;
	for (int i = 0; i < SLAB; i++) {
		*(void **)(slab + i * p->size) = p->free;
		p->free = slab + i * p->size;
	}
	return true;
}

static void *pool_get(struct pool *p)
{
	void *got;

	if (!p->free && !pool_grow(p))
		return NULL;
	got = p->free;
	p->free = *(void **)got;
	return got;
}

static void pool_put(struct pool *p, void *o)
{
	*(void **)o = p->free;
	p->free = o;
}

static void pool_free(struct pool *p)
{
	for (unsigned int i = 0; i < p->count; i++)
		free(p->slabs[i]);
	free(p->slabs);
	p->slabs = NULL;
	p->count = p->room = 0;
	p->free = NULL;
}

void match_init(struct match *m)
{
	memset(m, 0, sizeof(*m));
	m->transmissions.size = sizeof(struct transmission);
	m->heard.size = sizeof(struct heard);
}

void match_free(struct match *m)
{
	for (struct transmission *t = m->oldest; t; t = t->newer) {
		for (struct heard *h = t->first; h; h = h->next)
			chunk_release(h->chunk);
		chunk_release(t->chunk);
	}
	m->oldest = m->newest = NULL;
	pool_free(&m->transmissions);
	pool_free(&m->heard);
	free(m->radios);
}

void match_forget(struct match *m)
{
	bool keep_all = m->keep_all;

	match_free(m);
	match_init(m);
	m->keep_all = keep_all;
}

/* ---- the transmission ------------------------------------------------------------------------ */

static struct transmission **bucket(struct match *m, uint64_t key)
{
	return &m->buckets[key % MATCH_BUCKETS];
}

static bool has_radio(const struct transmission *t, uint32_t radio)
{
	if (!(t->radios >> radio % 64 & 1))
		return false;
	for (const struct heard *h = t->first; h; h = h->next)
		if (h->radio == radio)
			return true;
	return false;
}

/* Repeated frames, and those that are equal to others soon, must be near. */
static bool is_unique(uint8_t class)
{
	return class <= FRAME_DATA || class == FRAME_BLOCK_ACK;
}

static double window_ns(const struct domain *d, const struct reception *r, double variance)
{
	double w = 4 * sqrt(2 * (variance + d->clock.jitter));

	if (is_unique(r->class))
		return MATCH_WINDOW_NS;
	return w < MATCH_NEAR_LEAST_NS	? MATCH_NEAR_LEAST_NS
	       : w > MATCH_NEAR_MOST_NS ? MATCH_NEAR_MOST_NS
					: w;
}

/* Where another reception is to be expected. Those of near classes cannot have been late by much,
 * so that their mean is better than the middle one. */
static double distance(const struct transmission *t, int64_t unified_ns)
{
	if (is_unique(t->class))
		return fabs((double)(unified_ns - transmission_ns(t)));
	return fabs((double)(unified_ns - t->first->unified_ns) - t->mean_ns);
}

/* The nearest transmission, of which the radio has no reception yet. `repeated`: it has one of
 * another that is near. */
static struct transmission *nearest(struct match *m, const struct domain *d,
				    const struct reception *r, int64_t unified_ns, double window,
				    bool *ambiguous, bool *repeated)
{
	struct transmission *best = NULL;
	double least = window;

	*ambiguous = *repeated = false;
	for (struct transmission *t = *bucket(m, r->key); t; t = t->chain) {
		double off = distance(t, unified_ns);

		if (t->key != r->key || t->part != d->part || off > window || t->class != r->class)
			continue;
		if (has_radio(t, r->radio)) {
			*repeated = true;
			t->tracks = false;
			continue;
		}
		*ambiguous |= best != NULL;
		if (off <= least) {
			least = off;
			best = t;
		}
	}
	return best;
}

static struct transmission *begin(struct match *m, const struct domain *d,
				  const struct reception *r)
{
	struct transmission *t = pool_get(&m->transmissions), **at = bucket(m, r->key);

	if (!t)
		return NULL;
	*t = (struct transmission){
		.chain = *at,
		.key = r->key,
		.address = r->address,
		.part = d->part,
		.class = r->class,
		.tracks = r->tracks,
	};
	*at = t;
	if (m->newest)
		m->newest->newer = t;
	else
		m->oldest = t;
	m->newest = t;
	m->begun++;
	m->open++;
	return t;
}

/* Good FCS, then most bytes, then the strongest. */
static bool is_better(const struct reception *r, const struct transmission *t)
{
	if ((r->flags ^ t->flags) & HEARD_BAD_FCS)
		return t->flags & HEARD_BAD_FCS;
	if (r->kept != t->kept)
		return r->kept > t->kept;
	return r->signal > t->signal;
}

static void show_best(struct transmission *t, const struct reception *r)
{
	if (t->chunk && !is_better(r, t))
		return;
	chunk_hold(r->chunk);
	chunk_release(t->chunk);
	t->chunk = r->chunk;
	t->frame = r->frame;
	t->kept = r->kept;
	t->whole = r->whole;
	t->radio = r->radio;
	t->mhz = r->mhz;
	t->flags = r->flags;
	t->signal = r->signal;
}

/* Receptions come in the order of time, so that the middle one moves by every second one. */
static void add(struct transmission *t, struct heard *h, double jitter)
{
	double weight = 1 / (h->variance + jitter);

	if (t->last)
		t->last->next = h;
	else
		t->first = t->middle = h;
	t->last = h;
	t->weight += weight;
	t->mean_ns += (h->unified_ns - t->first->unified_ns - t->mean_ns) * weight / t->weight;
	t->count++;
	if (t->count > 1 && t->count % 2)
		t->middle = t->middle->next;
	t->radios |= 1ULL << h->radio % 64;
}

/* Returns the radio's last reception, or NULL without memory. */
static struct answered *last_of(struct match *m, uint32_t radio)
{
	if (radio >= m->radio_room) {
		uint32_t room = 2 * m->radio_room + radio + 64;
		void *more = realloc(m->radios, room * sizeof(*m->radios));

		if (!more)
			return NULL;
		m->radios = more;
		memset(m->radios + m->radio_room, 0, (room - m->radio_room) * sizeof(*m->radios));
		m->radio_room = room;
	}
	return &m->radios[radio];
}

int match_take(struct match *m, const struct domain *d, const struct reception *r,
	       int64_t unified_ns)
{
	struct answered *last = last_of(m, r->radio);
	double variance = clock_variance(&d->clock, r->own_ns);
	bool ambiguous = false, repeated = false;
	struct transmission *t = NULL;
	struct heard *h = last ? pool_get(&m->heard) : NULL;

	if (!h)
		return -ENOMEM;
	if (r->class < FRAME_BAD_FCS)
		t = nearest(m, d, r, answer_time(last, r, unified_ns), window_ns(d, r, variance),
			    &ambiguous, &repeated);
	m->receptions++;
	if (t)
		m->merged++;
	else
		t = begin(m, d, r);
	if (!t)
		return -ENOMEM;
	if (repeated && r->tracks) { /* it is not unique after all: somebody replays it */
		t->tracks = false;
		ambiguous = true;
	}
	*h = (struct heard){
		.stamp_ns = r->stamp_ns,
		.own_ns = r->own_ns,
		.unified_ns = unified_ns,
		.variance = variance,
		.radio = r->radio,
		.domain = d->number,
		.generation = d->clock.generation,
		.mhz = r->mhz,
		.flags = r->flags | (ambiguous ? HEARD_AMBIGUOUS : 0),
		.signal = r->signal,
		.chunk = m->keep_all ? chunk_hold(r->chunk) : NULL,
		.frame = r->frame,
		.kept = r->kept,
		.whole = r->whole,
	};
	add(t, h, d->clock.jitter);
	show_best(t, r);
	if (r->class != FRAME_OPAQUE)
		answer_note(last, t, unified_ns);
	return 0;
}

/* ---- decisions ------------------------------------------------------------------------------- */

static void forget(struct match *m, struct transmission *t)
{
	struct transmission **at = bucket(m, t->key);

	while (*at != t)
		at = &(*at)->chain;
	*at = t->chain;
}

struct transmission *match_decided(struct match *m, int64_t unified_ns)
{
	struct transmission *t = m->oldest;

	if (!t || t->first->unified_ns >= unified_ns)
		return NULL;
	m->oldest = t->newer;
	if (!m->oldest)
		m->newest = NULL;
	m->open--;
	forget(m, t);
	t->newer = t->chain = NULL;
	return t;
}

void match_give_back(struct match *m, struct transmission *t)
{
	for (struct heard *h = t->first, *next; h; h = next) {
		next = h->next;
		chunk_release(h->chunk);
		pool_put(&m->heard, h);
	}
	chunk_release(t->chunk);
	pool_put(&m->transmissions, t);
}
