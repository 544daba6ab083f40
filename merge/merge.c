// SPDX-License-Identifier: GPL-2.0
/* Merge: see merge.h. */
#include "merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock/anchor.h"
#include "clock/arrive.h"
#include "clock/parts.h"
#include "clock/seek.h"
#include "common/monotonic.h"
#include "frame/identity.h"
#include "model/chunk.h"
#include "retire.h"

#define NEWS_SHARE 16
#define NEWS_NS 20000000 /* of the machine's time */
#define AHEAD_NS 300000000LL
#define REHEARSED_NS 8000000000LL
#define REHEARSED_LEAST_NS 2000000000LL
#define CORRECTED_NS 1000000   /* more than clocks are corrected by while all is well */
#define COARSE_NS 5000000000LL /* by which a clock that is not known may be off */

int merge_init(struct merge *m, const struct merge_sink *sink)
{
	memset(m, 0, sizeof(*m));
	m->sink = *sink;
	m->swept_ns = m->decided_ns = INT64_MIN;
	m->ahead_ns = AHEAD_NS;
	m->hold_ns = INT64_MAX;
	m->rehearsed_ns = REHEARSED_NS;
	m->earliest.known = true;
	match_init(&m->match);
	level_init(&m->level);
	return retained_init(&m->retained) ?: clocks_init(&m->clocks);
}

static void forget_order(struct merge *m)
{
	for (uint32_t i = 0; i < m->order.count; i++)
		match_give_back(&m->match, m->order.heap[i].what);
	m->order.count = 0;
}

void merge_free(struct merge *m)
{
	for (unsigned int i = 0; i < m->clocks.count; i++) {
		struct queue *q = &m->clocks.list[i]->queue;

		for (; q->kept != q->tail; q->kept++)
			chunk_release(queue_at(q, q->kept)->chunk);
	}
	forget_order(m);
	order_free(&m->order);
	retained_free(&m->retained);
	match_free(&m->match);
	level_free(&m->level);
	clocks_free(&m->clocks);
	earliest_free(&m->earliest);
	radios_free(&m->radios);
}

/* ---- arrivals -------------------------------------------------------------------------------- */

int64_t merge_add_radio(struct merge *m, uint32_t sensor, uint8_t number)
{
	return radios_add(&m->radios, sensor, number);
}

int merge_take(struct merge *m, struct reception *r)
{
	struct domain *left, *d = radios_place(&m->radios, &m->clocks, r, &left);
	struct reception *place = d ? queue_push(&d->queue) : NULL;
	bool changed;

	m->news++;
	if (!place)
		return -ENOMEM;
	*place = *r;
	changed = arrive(&m->clocks, d) || d->queue.tail - d->queue.head == 1;
	if (left)
		return earliest_renew(&m->earliest, left) ?: earliest_renew(&m->earliest, d);
	return changed ? earliest_renew(&m->earliest, d) : 0;
}

void merge_nothing_before(struct merge *m, uint32_t sensor, int64_t stamp_ns)
{
	m->news++;
	radios_nothing_before(&m->radios, sensor, stamp_ns);
}

void merge_reading(struct merge *m, uint32_t sensor, int64_t monotonic_ns, int64_t difference_ns,
		   int64_t raw_ns)
{
	m->news++;
	radios_reading(&m->radios, &m->clocks, sensor, monotonic_ns, difference_ns, raw_ns);
}

void merge_ahead(struct merge *m, uint32_t sensor, int64_t ahead_ns, int64_t round_trip_ns,
		 int64_t at_ns)
{
	radios_ahead(&m->radios, sensor, ahead_ns, round_trip_ns, at_ns);
}

void merge_new_run(struct merge *m, uint32_t sensor)
{
	radios_new_run(&m->radios, sensor);
}

void merge_run_before(struct merge *m, uint32_t sensor)
{
	radios_run_before(&m->radios, sensor);
}

void merge_ended(struct merge *m, uint32_t sensor)
{
	radios_ended(&m->radios, sensor);
}

/* ---- sweep ----------------------------------------------------------------------------------- */

/* Unified time before which nothing more comes of the domain. */
static int64_t bound_of(const struct domain *d)
{
	if (!d->clock.known) /* its place is not known: nothing near may pass */
		return d->first_ns + d->coarse_ns - COARSE_NS;
	if (d->suspects.count && d->good >= d->queue.head && d->good < d->queue.tail)
		return clock_unified(&d->clock, queue_at(&d->queue, d->good)->own_ns);
	return d->ended ? INT64_MAX : clock_unified(&d->clock, d->newest_ns);
}

/* How far the sweep may go. `known`: that of the receptions whose clock is known. */
static int64_t bound(const struct merge *m, bool known)
{
	int64_t least = INT64_MAX;

	for (unsigned int i = 0; i < m->clocks.count; i++) {
		const struct domain *d = m->clocks.list[i];
		int64_t b;

		if (!d->arrived || (d->ended && queue_is_empty(&d->queue)) ||
		    (known && !d->clock.known))
			continue;
		b = bound_of(d);
		if (b < least && (m->hold_ns == INT64_MAX || b > m->clocks.now_ns - m->hold_ns))
			least = b;
	}
	least = least == INT64_MAX ? m->clocks.now_ns : least;
	return least == INT64_MIN ? least : least - m->ahead_ns;
}

/* Gives what nothing can come before any more. While a transmission is open, clocks are corrected,
 * so that its time may be a little before its beginning. */
static int give(struct merge *m, int64_t decided_ns)
{
	int64_t before_ns = decided_ns == INT64_MAX ? decided_ns : decided_ns - CORRECTED_NS;
	struct transmission *t;
	int err = 0;

	while (!err && (t = order_get(&m->order, before_ns))) {
		if (t->class != FRAME_OPAQUE)
			t->number = ++m->given;
		err = m->sink.take(m->sink.context, t);
		if (!err && t->class < FRAME_BAD_FCS)
			err = retained_add(&m->retained, t, match_centre(t));
		match_give_back(&m->match, t);
	}
	return err;
}

/* Gives a late reception. If its transmission was given before, and is still retained, it gets that
 * one's number. Otherwise it is a new transmission. It moves no clock. */
static int give_late(struct merge *m, const struct domain *d, const struct reception *r,
		     int64_t unified_ns)
{
	const struct retained_entry *found = NULL;
	struct transmission *t;
	double centre = 0;
	int err = give(m, m->decided_ns);

	if (r->class < FRAME_BAD_FCS)
		found = retained_find(&m->retained, r->key, d->part, r->radio, unified_ns,
				      match_window(d, r));
	t = err ? NULL : match_late(&m->match, d, r, unified_ns, found);
	if (!t)
		return err ?: -ENOMEM;
	if (found)
		centre = found->centre_ns;
	else if (t->class != FRAME_OPAQUE)
		t->number = ++m->given;
	err = m->sink.take(m->sink.context, t);
	if (!err && t->class < FRAME_BAD_FCS)
		err = retained_add(&m->retained, t, centre);
	match_give_back(&m->match, t);
	return err;
}

static int renew_all(struct merge *m)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < m->clocks.count; i++)
		err = earliest_renew(&m->earliest, m->clocks.list[i]);
	return err;
}

static int tick(struct merge *m, int64_t unified_ns)
{
	int ended = level_tick(&m->level, &m->clocks, unified_ns);

	return ended > 0 ? renew_all(m) : ended;
}

static int decide(struct merge *m, int64_t unified_ns)
{
	struct transmission *t;
	int err = 0;

	if (unified_ns > m->decided_ns)
		m->decided_ns = unified_ns;
	while (!err && (t = match_decided(&m->match, unified_ns))) {
		err = tick(m, t->first->unified_ns);
		if (!err && t->tracks && t->count > 1)
			err = level_take(&m->level, &m->clocks, t);
		err = err ?: order_put(&m->order, transmission_ns(t), t->key, t);
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

/* Sweeps receptions before `limit`. If `rehearsed`, they stay in their queues. */
static int sweep_to(struct merge *m, int64_t limit, bool rehearsed)
{
	struct domain *d;
	int err = 0;

	while (!err && (d = earliest(&m->earliest)) && d->heap_ns <= limit) {
		err = decide(m, d->heap_ns - MATCH_OPEN_NS);
		d = earliest(&m->earliest); /* clocks may have changed */
		err = err ?: sweep_one(m, d, rehearsed);
		err = err ?: earliest_renew(&m->earliest, d);
		if (!err && m->order.count > 64 && !rehearsed)
			err = give(m, m->swept_ns - MATCH_OPEN_NS);
	}
	return err;
}

/* The clocks begin again where they are found to be. */
static void doubt_all(struct merge *m)
{
	for (unsigned int i = 0; i < m->clocks.count; i++) {
		struct domain *d = m->clocks.list[i];

		if (d->clock.known)
			clock_set(&d->clock, d->first_ns,
				  clock_unified(&d->clock, d->first_ns) - d->first_ns, JOIN_SD_NS,
				  JOIN_SD_RATE);
	}
}

/* Goes back to the first reception. */
static int go_back(struct merge *m)
{
	forget_order(m);
	match_forget(&m->match);
	level_free(&m->level);
	for (unsigned int i = 0; i < m->clocks.count; i++) {
		struct domain *d = m->clocks.list[i];

		d->queue.head = d->queue.kept;
		d->swept_by.count = 0;
		d->references = d->outlying = 0;
	}
	m->swept_ns = m->decided_ns = INT64_MIN;
	return renew_all(m);
}

/* How far all domains have come that are not further behind than the sweep waits for. */
static int64_t reached(const struct merge *m)
{
	int64_t least = m->clocks.now_ns;

	for (unsigned int i = 0; i < m->clocks.count; i++) {
		const struct domain *d = m->clocks.list[i];
		int64_t at = domain_unified(d, d->newest_ns);

		if (d->arrived && !d->ended && d->clock.known && at < least &&
		    (m->hold_ns == INT64_MAX || at > m->clocks.now_ns - m->hold_ns))
			least = at;
	}
	return least;
}

/* Somebody waits for the transmissions, also if the air is quiet behind them. */
static int give_all(struct merge *m, int64_t limit)
{
	int64_t before = (limit > m->swept_ns ? limit : m->swept_ns) - MATCH_OPEN_NS;

	return decide(m, before) ?: give(m, before);
}

/* How much of the start is rehearsed: all radios have come so far. 0: not enough of it is here.
 * Parts that share little may meet later: files are waited for. */
static int64_t enough(const struct merge *m)
{
	int64_t have = bound(m, false) - m->first_ns;
	bool full = clocks_queued(&m->clocks) > CLOCKS_QUEUED_MOST;

	if (have > m->rehearsed_ns &&
	    (have > m->clocks.sparse_ns || full || !parts_are_several(&m->clocks)))
		return m->rehearsed_ns;
	return have > REHEARSED_LEAST_NS && full ? REHEARSED_LEAST_NS : 0;
}

static int rehearse_begin(struct merge *m)
{
	int err;

	anchor_set(&m->clocks, 0);
	m->anchored = m->clocks.part.count;
	err = renew_all(m);
	m->first_ns = earliest(&m->earliest) ? earliest(&m->earliest)->heap_ns : 0;
	m->rehearses = true;
	return err;
}

/* The same again for so much of the start: who was found first, and by whom, has no influence. */
static int rehearse_again(struct merge *m, int64_t lasts_ns)
{
	int64_t limit = lasts_ns;
	int err;

	m->earliest.known = false;
	m->rehearsed = true;
	anchor_set(&m->clocks, m->anchored);
	doubt_all(m);
	err = go_back(m);
	if (lasts_ns != INT64_MAX)
		limit = earliest(&m->earliest)->heap_ns + lasts_ns;
	err = err ?: sweep_to(m, limit, true);
	return err ?: go_back(m);
}

/* At the start, clocks are known to 100 us only. They learn from the first receptions, while others
 * are still sought, which share less. Then all begins again at the first reception. */
static int rehearse(struct merge *m)
{
	const struct domain *first = earliest(&m->earliest);
	int64_t lasts_ns;
	int err = 0;

	if (!m->rehearses) {
		if (!first || bound(m, true) - first->heap_ns <= REHEARSED_LEAST_NS)
			return 0;
		err = rehearse_begin(m);
	}
	err = err ?: sweep_to(m, bound(m, true), true);
	lasts_ns = enough(m);
	return err || !lasts_ns ? err : rehearse_again(m, lasts_ns);
}

/* A sweep looks at all clocks. In a stream of many sensors, some news must have come since the last
 * one, or some time must have passed. */
static bool is_early(struct merge *m)
{
	uint64_t now;

	if (m->hold_ns == INT64_MAX || m->news >= m->clocks.count / NEWS_SHARE)
		return false;
	now = monotonic_ns();
	if (now - m->looked_ns < NEWS_NS)
		return true;
	m->looked_ns = now;
	return false;
}

int merge_sweep(struct merge *m)
{
	const struct clocks *c = &m->clocks;
	int64_t limit;
	int err = 0;

	if (is_early(m))
		return 0;
	m->news = 0;
	retire(m);
	seek_all(&m->clocks, reached(m));
	if (m->set != c->joins + c->steps + c->part_joins + c->parts) {
		err = parts_find_alone(&m->clocks);
		err = err ?: renew_all(m);
	}
	m->set = c->joins + c->steps + c->part_joins + c->parts;
	if (!err && !m->rehearsed)
		err = rehearse(m);
	if (err || !m->rehearsed)
		return err;
	limit = bound(m, false);
	err = sweep_to(m, limit, false);
	return err || m->hold_ns == INT64_MAX ? err : give_all(m, limit);
}

int merge_finish(struct merge *m)
{
	int err;

	seek_all(&m->clocks, INT64_MAX);
	err = parts_find_alone(&m->clocks);
	err = err ?: renew_all(m);
	if (!err && !m->rehearsed)
		err = (m->rehearses ? 0 : rehearse_begin(m)) ?: sweep_to(m, INT64_MAX, true);
	if (!err && !m->rehearsed)
		err = rehearse_again(m, INT64_MAX);
	err = err ?: sweep_to(m, INT64_MAX, false);
	err = err ?: decide(m, INT64_MAX);
	return err ?: give(m, INT64_MAX);
}
