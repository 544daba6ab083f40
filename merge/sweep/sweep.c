// SPDX-License-Identifier: GPL-2.0
/* Sweep: see sweep.h. */
#include "sweep.h"

#include <errno.h>

#include "merge/frame/identity.h"
#include "merge/model/chunk.h"

#define CORRECTED_NS 1000000 /* more than clocks are corrected by while all is well */
/* By which a clock that is not known may be off: if the collector's is known, after a restart, and
 * else. */
#define PLACED_NS 5000000000LL
#define AGAIN_NS 60000000000LL
#define COARSE_NS 3600000000000LL

static int64_t may_be_off(const struct domain *d, bool full)
{
	return d->placed || full ? PLACED_NS : d->again ? AGAIN_NS : COARSE_NS;
}

/* Unified time before which nothing more comes of the domain. */
static int64_t bound_of(const struct domain *d, bool full)
{
	if (!d->clock.known) /* its place is not known: nothing near may pass */
		return d->first_ns + d->coarse_ns - may_be_off(d, full);
	if (d->suspects.count && d->good >= d->queue.head && d->good < d->queue.tail)
		return clock_unified(&d->clock, queue_at(&d->queue, d->good)->own_ns);
	return d->ended ? INT64_MAX : clock_unified(&d->clock, d->newest_ns);
}

int64_t sweep_bound(const struct merge *m, bool known)
{
	bool full = !known && clocks_queued(&m->clocks) >= CLOCKS_QUEUED_MOST;
	int64_t least = INT64_MAX;

	for (unsigned int i = 0; i < m->clocks.count; i++) {
		const struct domain *d = m->clocks.list[i];
		int64_t b;

		if (!d->arrived || (d->ended && queue_is_empty(&d->queue)) ||
		    (known && !d->clock.known))
			continue;
		b = bound_of(d, full);
		if (b < least && (m->hold_ns == INT64_MAX || b > m->clocks.now_ns - m->hold_ns))
			least = b;
	}
	least = least == INT64_MAX ? m->clocks.now_ns : least;
	return least == INT64_MIN ? least : least - m->ahead_ns;
}

static bool leaves(const struct merge *m, const struct transmission *t)
{
	return m->sink.leaves && m->sink.leaves(m->sink.context, t);
}

/* While a transmission is open, clocks are corrected, so that its time may be a little before its
 * beginning. */
int sweep_give(struct merge *m, int64_t decided_ns)
{
	int64_t before_ns = decided_ns == INT64_MAX ? decided_ns : decided_ns - CORRECTED_NS;
	struct transmission *t;
	int err = 0;

	while (!err && (t = order_get(&m->order, before_ns))) {
		if (t->class != FRAME_OPAQUE)
			t->number = ++m->given;
		t->left = leaves(m, t);
		err = m->sink.take(m->sink.context, t);
		if (!err && t->class < FRAME_BAD_FCS)
			err = retained_add(&m->retained, t, match_centre(t));
		match_give_back(&m->match, t);
	}
	return err;
}

/* Gives a late reception. If its transmission was given before, and is still retained, it gets that
 * one's number, and goes to the same merger. Otherwise it is a new transmission. It moves no clock.
 */
static int give_late(struct merge *m, const struct domain *d, const struct reception *r,
		     int64_t unified_ns)
{
	const struct retained_entry *found = NULL;
	struct transmission *t;
	double centre = 0;
	int err = sweep_give(m, m->decided_ns);

	if (r->class < FRAME_BAD_FCS)
		found = retained_find(&m->retained, r->key, domain_part(d), r->radio, unified_ns,
				      match_window(d, r));
	t = err ? NULL : match_late(&m->match, d, r, unified_ns, found);
	if (!t)
		return err ?: -ENOMEM;
	if (found)
		centre = found->centre_ns;
	else if (t->class != FRAME_OPAQUE)
		t->number = ++m->given;
	t->left = found ? found->left : leaves(m, t);
	err = m->sink.take(m->sink.context, t);
	if (!err && t->class < FRAME_BAD_FCS)
		err = retained_add(&m->retained, t, centre);
	match_give_back(&m->match, t);
	return err;
}

int sweep_renew(struct merge *m)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < m->clocks.count; i++)
		err = earliest_renew(&m->earliest, m->clocks.list[i]);
	return err;
}

static int tick(struct merge *m, int64_t unified_ns)
{
	int ended = level_tick(&m->level, &m->clocks, unified_ns);

	return ended > 0 ? sweep_renew(m) : ended;
}

int sweep_decide(struct merge *m, int64_t unified_ns)
{
	struct transmission *t;
	int err = 0;

	if (unified_ns > m->decided_ns)
		m->decided_ns = unified_ns;
	while (!err && (t = match_decided(&m->match, unified_ns))) {
		err = tick(m, t->first->unified_ns);
		if (!err && t->tracks && t->count > 1)
			err = level_take(&m->level, &m->clocks, t);
		err = err ?: order_put(&m->order, transmission_ns(t), t->middle->stamp_ns, t);
	}
	return err ?: tick(m, unified_ns == INT64_MAX ? m->swept_ns : unified_ns);
}

/* The domain's next reception becomes part of a transmission. */
static int sweep_one(struct merge *m, struct domain *d, bool rehearsed)
{
	struct reception *r = queue_at(&d->queue, d->queue.head);
	int64_t unified = domain_unified(d, r->own_ns);
	bool late = unified < m->decided_ns;
	int err = 0;

	if (unified > m->swept_ns)
		m->swept_ns = unified;
	if (d->follows == FOLLOWS_TSFT && !late)
		bridge_note(&d->swept_by, unified, r->stamp_ns - unified);
	if (!late && (!rehearsed || r->tracks)) /* others correct no clock */
		err = match_take(&m->match, d, r, unified);
	else if (!rehearsed)
		err = give_late(m, d, r, unified);
	d->queue.head++;
	if (rehearsed)
		return err;
	chunk_release(r->chunk);
	d->queue.kept = d->queue.head;
	if (d->left && queue_is_empty(&d->queue))
		queue_free(&d->queue);
	return err;
}

int sweep_to(struct merge *m, int64_t limit, bool rehearsed)
{
	struct domain *d;
	int err = 0;

	while (!err && (d = earliest(&m->earliest)) && d->heap_ns <= limit) {
		err = sweep_decide(m, d->heap_ns - MATCH_OPEN_NS);
		d = earliest(&m->earliest); /* clocks may have changed */
		err = err ?: sweep_one(m, d, rehearsed);
		err = err ?: earliest_renew(&m->earliest, d);
		if (!err && m->order.count > 64 && !rehearsed)
			err = sweep_give(m, m->swept_ns - MATCH_OPEN_NS);
	}
	return err;
}

int sweep_give_all(struct merge *m, int64_t limit)
{
	int64_t before = (limit > m->swept_ns ? limit : m->swept_ns) - MATCH_OPEN_NS;

	return sweep_decide(m, before) ?: sweep_give(m, before);
}

void sweep_forget(struct merge *m)
{
	for (uint32_t i = 0; i < m->order.count; i++)
		match_give_back(&m->match, m->order.heap[i].what);
	m->order.count = 0;
}

int sweep_again(struct merge *m)
{
	sweep_forget(m);
	match_forget(&m->match);
	level_free(&m->level);
	for (unsigned int i = 0; i < m->clocks.count; i++) {
		struct domain *d = m->clocks.list[i];

		d->queue.head = d->queue.kept;
		d->swept_by.count = 0;
		d->references = d->outlying = 0;
	}
	m->swept_ns = m->decided_ns = INT64_MIN;
	return sweep_renew(m);
}
