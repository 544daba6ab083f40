// SPDX-License-Identifier: GPL-2.0
/* Match: see match.h. */
#include "match.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "damaged.h"
#include "merge/frame/identity.h"
#include "merge/model/chunk.h"

/* Transmissions that are looked at for a reception: the air has room for some hundred of one key.
 */
#define CHAIN_MOST 1000
#define UNKNOWN (1e9 * 1e9)	 /* variance without a clock, ns^2 */
#define DAMAGED_AHEAD_NS 1000000 /* more than damaged.h looks back */

void match_init(struct match *m)
{
	memset(m, 0, sizeof(*m));
	m->transmissions.size = sizeof(struct transmission);
	m->heard.size = sizeof(struct heard);
}

void match_free(struct match *m)
{
	for (struct transmission *t = m->oldest, *newer; t; t = newer) {
		newer = t->newer;
		match_give_back(m, t);
	}
	m->oldest = m->newest = m->examined = NULL;
	pool_free(&m->transmissions);
	pool_free(&m->heard);
	free(m->radios);
	m->radios = NULL;
	m->radio_room = 0;
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
	return t->radios >> radio % 64 & 1 && heard_has_radio(t->first, radio);
}

/* Repeated frames, and those that are equal to others soon, must be near. */
static bool is_unique(uint8_t class)
{
	return class <= FRAME_DATA || class == FRAME_BLOCK_ACK;
}

double match_window(const struct domain *d, const struct reception *r)
{
	double w = 4 * sqrt(2 * (clock_variance(&d->clock, r->own_ns) + d->clock.jitter));

	if (is_unique(r->class))
		return MATCH_WINDOW_NS;
	return w < MATCH_NEAR_LEAST_NS	? MATCH_NEAR_LEAST_NS
	       : w > MATCH_NEAR_MOST_NS ? MATCH_NEAR_MOST_NS
					: w;
}

/* Those of near classes cannot have been late by much, so that their mean is better than the middle
 * one. */
double match_centre(const struct transmission *t)
{
	if (is_unique(t->class))
		return 0;
	return t->mean_ns - (double)(transmission_ns(t) - t->first->unified_ns);
}

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
	unsigned int in_reach = 0, n = 0;
	double least = window;

	*repeated = false;
	for (struct transmission *t = *bucket(m, r->key); t && n++ < CHAIN_MOST; t = t->chain) {
		double off = distance(t, unified_ns);

		if (t->key != r->key || t->part != domain_part(d) || off > window ||
		    t->class != r->class)
			continue;
		in_reach++;
		if (has_radio(t, r->radio)) {
			*repeated = true;
			t->tracks = false;
		} else if (off <= least) {
			least = off;
			best = t;
		}
	}
	*ambiguous = in_reach > (best ? 1 : 0);
	return best;
}

static struct transmission *make(struct match *m, const struct domain *d, const struct reception *r)
{
	struct transmission *t = pool_get(&m->transmissions);

	if (t)
		*t = (struct transmission){
			.key = r->key,
			.address = r->address,
			.part = domain_part(d),
			.class = r->class,
			.tracks = r->tracks,
		};
	return t;
}

/* A clock may have gone back a little. */
static struct transmission *begin(struct match *m, const struct domain *d,
				  const struct reception *r, int64_t unified_ns)
{
	struct transmission *t = make(m, d, r), *older = m->newest, **at = bucket(m, r->key);

	if (!t)
		return NULL;
	while (older && older->first->unified_ns > unified_ns)
		older = older->older;
	t->chain = *at;
	if (t->chain)
		t->chain->chained = t;
	*at = t;
	t->older = older;
	t->newer = older ? older->newer : m->oldest;
	*(t->older ? &t->older->newer : &m->oldest) = t;
	*(t->newer ? &t->newer->older : &m->newest) = t;
	m->begun++;
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
	t->length = r->length;
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

/* ---- frames with a wrong FCS ----------------------------------------------------------------- */

static void forget(struct match *m, struct transmission *t)
{
	*(t->chained ? &t->chained->chain : bucket(m, t->key)) = t->chain;
	if (t->chain)
		t->chain->chained = t->chained;
	*(t->older ? &t->older->newer : &m->oldest) = t->newer;
	*(t->newer ? &t->newer->older : &m->newest) = t->older;
	t->chain = t->chained = t->older = t->newer = NULL;
}

/* The damaged transmission's reception becomes another one's. */
static void join(struct match *m, struct transmission *damaged, struct transmission *to)
{
	struct heard *h = damaged->first;

	forget(m, damaged);
	h->next = to->damaged;
	to->damaged = h;
	to->damaged_count++;
	damaged->first = NULL;
	match_give_back(m, damaged);
	m->begun--;
	m->merged++;
}

/* Looks at the transmissions that began before `unified_ns`. */
static void examine(struct match *m, int64_t unified_ns)
{
	struct transmission *t;

	while ((t = m->examined ? m->examined->newer : m->oldest) &&
	       t->first->unified_ns < unified_ns) {
		struct transmission *to = t->class == FRAME_BAD_FCS ? damaged_belongs_to(t) : NULL;

		if (to)
			join(m, t, to);
		else
			m->examined = t;
	}
}

/* ---- receptions ------------------------------------------------------------------------------ */

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

static struct heard *hear(struct match *m, const struct domain *d, const struct reception *r,
			  int64_t unified_ns, uint8_t flags)
{
	struct heard *h = pool_get(&m->heard);

	if (!h)
		return NULL;
	*h = (struct heard){
		.stamp_ns = r->stamp_ns,
		.own_ns = r->own_ns,
		.unified_ns = unified_ns,
		.variance = d->clock.known ? clock_variance(&d->clock, r->own_ns) : UNKNOWN,
		.radio = r->radio,
		.domain = d->number,
		.generation = d->clock.generation,
		.mhz = r->mhz,
		.flags = r->flags | flags | (d->alone || !d->clock.known ? HEARD_UNALIGNED : 0),
		.signal = r->signal,
		.chunk = m->keep_all ? chunk_hold(r->chunk) : NULL,
		.frame = r->frame,
		.kept = r->kept,
		.whole = r->whole,
	};
	return h;
}

int match_take(struct match *m, const struct domain *d, const struct reception *r,
	       int64_t unified_ns)
{
	struct answered *last = last_of(m, r->radio);
	bool ambiguous = false, repeated = false;
	struct transmission *t = NULL;
	struct heard *h;

	if (!last)
		return -ENOMEM;
	if (r->class < FRAME_BAD_FCS)
		t = nearest(m, d, r, answer_time(last, r, unified_ns), match_window(d, r),
			    &ambiguous, &repeated);
	h = hear(m, d, r, unified_ns, ambiguous ? HEARD_AMBIGUOUS : 0);
	if (!h)
		return -ENOMEM;
	m->receptions++;
	if (t)
		m->merged++;
	else
		t = begin(m, d, r, unified_ns);
	if (!t)
		return -ENOMEM;
	if (repeated) /* it is not unique after all: somebody replays it */
		t->tracks = false;
	add(t, h, d->clock.jitter);
	show_best(t, r);
	if (r->class != FRAME_OPAQUE)
		answer_note(last, t, unified_ns);
	return 0;
}

struct transmission *match_late(struct match *m, const struct domain *d, const struct reception *r,
				int64_t unified_ns, const struct retained_entry *found)
{
	struct transmission *t = make(m, d, r);
	struct heard *h = t ? hear(m, d, r, unified_ns, HEARD_LATE) : NULL;

	if (!h)
		return NULL;
	add(t, h, d->clock.jitter);
	show_best(t, r);
	t->flags |= HEARD_LATE;
	m->receptions++;
	if (found) {
		t->found = true;
		t->found_ns = found->at_ns;
		t->number = found->number;
		m->merged++;
	} else {
		m->begun++;
	}
	return t;
}

/* ---- decisions ------------------------------------------------------------------------------- */

struct transmission *match_decided(struct match *m, int64_t unified_ns)
{
	struct transmission *t;

	/* Those that a damaged one can belong to are complete by now, and still here. */
	examine(m, unified_ns < INT64_MAX - DAMAGED_AHEAD_NS ? unified_ns + DAMAGED_AHEAD_NS
							     : INT64_MAX);
	t = m->oldest;
	if (!t || (t->first->unified_ns >= unified_ns && unified_ns != INT64_MAX))
		return NULL;
	if (t == m->examined)
		m->examined = NULL;
	forget(m, t);
	return t;
}

static void give_back(struct match *m, struct heard *h)
{
	for (struct heard *next; h; h = next) {
		next = h->next;
		chunk_release(h->chunk);
		pool_put(&m->heard, h);
	}
}

void match_give_back(struct match *m, struct transmission *t)
{
	give_back(m, t->first);
	give_back(m, t->damaged);
	chunk_release(t->chunk);
	pool_put(&m->transmissions, t);
}
