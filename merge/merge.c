// SPDX-License-Identifier: GPL-2.0
/* Merge: see merge.h. */
#include "merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock/anchor.h"
#include "clock/own.h"
#include "model/chunk.h"

#define AHEAD_NS 500000000LL
#define REHEARSED_NS 8000000000LL
#define REHEARSED_LEAST_NS 2000000000LL
#define COARSE_NS 5000000000LL /* by which a clock that is not known may be off */

int merge_init(struct merge *m, const struct merge_sink *sink)
{
	memset(m, 0, sizeof(*m));
	m->sink = *sink;
	m->swept_ns = INT64_MIN;
	m->ahead_ns = AHEAD_NS;
	m->hold_ns = INT64_MAX;
	m->rehearsed_ns = REHEARSED_NS;
	match_init(&m->match);
	level_init(&m->level);
	return clocks_init(&m->clocks);
}

static void forget_order(struct merge *m)
{
	for (uint32_t i = 0; i < m->order.count; i++)
		match_give_back(&m->match, m->order.heap[i]);
	m->order.count = 0;
}

void merge_free(struct merge *m)
{
	for (unsigned int i = 0; i < m->clocks.count; i++) {
		struct queue *q = &m->clocks.list[i]->queue;

		for (; !queue_is_empty(q); q->head++)
			chunk_release(queue_at(q, q->head)->chunk);
	}
	forget_order(m);
	order_free(&m->order);
	match_free(&m->match);
	level_free(&m->level);
	clocks_free(&m->clocks);
	free(m->heap);
	free(m->radios);
}

int64_t merge_add_radio(struct merge *m, uint32_t sensor, uint8_t number)
{
	if (m->radio_count == m->radio_room) {
		uint32_t room = 2 * m->radio_room + 64;
		void *more = realloc(m->radios, room * sizeof(*m->radios));

		if (!more)
			return -ENOMEM;
		m->radios = more;
		m->radio_room = room;
	}
	m->radios[m->radio_count] = (struct merge_radio){ .sensor = sensor, .number = number };
	return m->radio_count++;
}

/* ---- heap ------------------------------------------------------------------------------------ */

static void heap_set(struct merge *m, uint32_t at, struct domain *d)
{
	m->heap[at] = d;
	d->heap_at = at;
}

static void heap_up(struct merge *m, struct domain *d, uint32_t at)
{
	for (; at > 1 && d->heap_ns < m->heap[at / 2]->heap_ns; at /= 2)
		heap_set(m, at, m->heap[at / 2]);
	heap_set(m, at, d);
}

static void heap_down(struct merge *m, struct domain *d, uint32_t at)
{
	uint32_t child;

	while ((child = 2 * at) <= m->heap_count) {
		if (child < m->heap_count && m->heap[child + 1]->heap_ns < m->heap[child]->heap_ns)
			child++;
		if (m->heap[child]->heap_ns >= d->heap_ns)
			break;
		heap_set(m, at, m->heap[child]);
		at = child;
	}
	heap_set(m, at, d);
}

/* The domain's next reception is new, or its clock. */
static int heap_renew(struct merge *m, struct domain *d)
{
	uint32_t at = d->heap_at;

	if (queue_is_empty(&d->queue)) {
		if (at) {
			struct domain *last = m->heap[m->heap_count--];

			d->heap_at = 0;
			if (last != d) {
				heap_down(m, last, at);
				heap_up(m, last, last->heap_at);
			}
		}
		return 0;
	}
	if (!at && m->heap_count + 1 >= m->heap_room) {
		uint32_t room = 2 * m->heap_room + 64;
		void *more = realloc(m->heap, room * sizeof(*m->heap));

		if (!more)
			return -ENOMEM;
		m->heap = more;
		m->heap_room = room;
	}
	at = at ?: ++m->heap_count;
	d->heap_ns = domain_unified(d, queue_at(&d->queue, d->queue.head)->own_ns);
	heap_up(m, d, at);
	heap_down(m, d, d->heap_at);
	return 0;
}

/* ---- arrivals -------------------------------------------------------------------------------- */

/* The domain of the radio, or of the sensor's radios without TSFT. */
static struct domain *domain_of(struct merge *m, struct merge_radio *radio)
{
	for (uint32_t i = 0; !radio->domain && !radio->tsft && i < m->radio_count; i++)
		if (m->radios[i].sensor == radio->sensor && !m->radios[i].tsft)
			radio->domain = m->radios[i].domain;
	if (!radio->domain)
		radio->domain = clocks_add(&m->clocks, radio->sensor);
	return radio->domain;
}

/* Sets the reception's own time. Returns its domain, or NULL without memory. */
static struct domain *place_in_time(struct merge *m, struct merge_radio *radio, struct reception *r)
{
	struct domain *d;

	if (!radio->seen && r->has_tsft) { /* not what readings have made */
		radio->tsft = true;
		radio->domain = NULL;
	}
	radio->seen = true;
	d = domain_of(m, radio);
	if (d && radio->tsft && r->has_tsft && !own_tsft(d, r->stamp_ns, r->own_ns)) {
		d->ended = true;
		radio->domain = NULL;
		d = domain_of(m, radio);
		if (d)
			own_tsft(d, r->stamp_ns, r->own_ns);
	}
	if (!d)
		return NULL;
	if (radio->tsft && r->has_tsft) {
		r->own_ns += d->stepped_ns;
		d->stamp_ns = r->stamp_ns;
		bridge_note(&d->arrived_by, r->own_ns, r->stamp_ns - r->own_ns);
		return d;
	}
	r->own_ns = own_time(d, r->stamp_ns);
	if (radio->tsft)
		r->finds = r->tracks = false;
	return d;
}

int merge_take(struct merge *m, struct reception *r)
{
	struct domain *d = place_in_time(m, &m->radios[r->radio], r);
	struct reception *place = d ? queue_push(&d->queue) : NULL;

	if (!place)
		return -ENOMEM;
	*place = *r;
	clocks_arrived(&m->clocks, d);
	return d->queue.tail - d->queue.head == 1 ? heap_renew(m, d) : 0;
}

void merge_nothing_before(struct merge *m, uint32_t sensor, int64_t stamp_ns)
{
	for (uint32_t i = 0; i < m->radio_count; i++) {
		struct domain *d = m->radios[i].domain;

		if (m->radios[i].sensor == sensor && d && d->arrived &&
		    own_time(d, stamp_ns) > d->newest_ns)
			d->newest_ns = own_time(d, stamp_ns);
	}
}

/* The radios of a sensor that has no radio yet get theirs with their first reception. */
void merge_reading(struct merge *m, uint32_t sensor, int64_t monotonic_ns, int64_t difference_ns,
		   int64_t raw_ns)
{
	for (uint32_t i = 0; i < m->radio_count; i++) {
		struct merge_radio *radio = &m->radios[i];
		struct domain *d;

		if (radio->sensor != sensor || radio->tsft)
			continue;
		d = domain_of(m, radio);
		if (d && !own_reading(d, monotonic_ns, difference_ns, raw_ns)) {
			merge_new_run(m, sensor);
			d = domain_of(m, radio);
			if (d)
				own_reading(d, monotonic_ns, difference_ns, raw_ns);
		}
	}
}

void merge_ahead(struct merge *m, uint32_t sensor, int64_t ahead_ns, int64_t round_trip_ns,
		 int64_t at_ns)
{
	for (uint32_t i = 0; i < m->radio_count; i++) {
		struct domain *d = m->radios[i].domain;

		if (m->radios[i].sensor == sensor && d)
			own_ahead(d, ahead_ns, round_trip_ns, at_ns);
	}
}

/* The old domain's receptions are swept by its own clock. */
void merge_new_run(struct merge *m, uint32_t sensor)
{
	merge_ended(m, sensor);
	for (uint32_t i = 0; i < m->radio_count; i++)
		if (m->radios[i].sensor == sensor)
			m->radios[i].domain = NULL;
}

void merge_ended(struct merge *m, uint32_t sensor)
{
	for (uint32_t i = 0; i < m->radio_count; i++)
		if (m->radios[i].sensor == sensor && m->radios[i].domain)
			m->radios[i].domain->ended = true;
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

/* How far the sweep may go. */
static int64_t bound(const struct merge *m)
{
	int64_t least = INT64_MAX;

	for (unsigned int i = 0; i < m->clocks.count; i++) {
		const struct domain *d = m->clocks.list[i];
		int64_t b;

		if (!d->arrived || (d->ended && queue_is_empty(&d->queue)))
			continue;
		b = bound_of(d);
		if (b < least && (m->hold_ns == INT64_MAX || b > m->clocks.now_ns - m->hold_ns))
			least = b;
	}
	least = least == INT64_MAX ? m->clocks.now_ns : least;
	return least == INT64_MIN ? least : least - m->ahead_ns;
}

/* Gives what nothing can come before any more. */
static int give(struct merge *m, int64_t before_ns)
{
	struct transmission *t;
	int err = 0;

	while (!err && (t = order_get(&m->order, before_ns))) {
		err = m->sink.take(m->sink.context, t);
		match_give_back(&m->match, t);
		m->given++;
	}
	return err;
}

static int decide(struct merge *m, int64_t unified_ns)
{
	struct transmission *t;
	int err = 0;

	while (!err && (t = match_decided(&m->match, unified_ns))) {
		if (t->tracks && t->count > 1)
			err = level_take(&m->level, &m->clocks, t);
		err = err ?: order_put(&m->order, t);
	}
	return err
		       ?: level_tick(&m->level, &m->clocks,
				     unified_ns == INT64_MAX ? m->swept_ns : unified_ns);
}

/* Sweeps receptions before `limit`. If `rehearsed`, they stay in their queues. */
static int sweep_to(struct merge *m, int64_t limit, bool rehearsed)
{
	int err = 0;

	while (!err && m->heap_count && m->heap[1]->heap_ns <= limit) {
		struct domain *d = m->heap[1];
		struct reception *r = queue_at(&d->queue, d->queue.head);
		int64_t unified = domain_unified(d, r->own_ns);

		if (unified > m->swept_ns)
			m->swept_ns = unified;
		if (d->follows == FOLLOWS_TSFT)
			bridge_note(&d->swept_by, unified, r->stamp_ns - unified);
		if (!rehearsed || r->tracks) /* others do not correct clocks */
			err = match_take(&m->match, d, r, unified);
		if (!rehearsed)
			chunk_release(r->chunk);
		d->queue.head++;
		err = err ?: heap_renew(m, d);
		err = err ?: decide(m, m->swept_ns - MATCH_OPEN_NS);
		if (!err && m->order.count > 64 && !rehearsed)
			err = give(m, m->swept_ns - MATCH_OPEN_NS);
	}
	return err;
}

static int renew_all(struct merge *m)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < m->clocks.count; i++)
		err = heap_renew(m, m->clocks.list[i]);
	return err;
}

/* At the start, clocks are known to 100 us only. They learn from the first receptions, which are
 * then swept from the beginning. */
static int rehearse(struct merge *m, int64_t limit)
{
	int err;

	anchor_set(&m->clocks);
	err = renew_all(m);
	for (unsigned int i = 0; i < m->clocks.count; i++)
		m->clocks.list[i]->begun = m->clocks.list[i]->queue.head;
	err = err ?: sweep_to(m, limit, true);
	forget_order(m);
	match_forget(&m->match);
	level_free(&m->level);
	for (unsigned int i = 0; i < m->clocks.count; i++) {
		struct domain *d = m->clocks.list[i];

		d->queue.head = d->begun;
		d->swept_by.count = 0;
		d->references = d->outlying = 0;
	}
	m->swept_ns = INT64_MIN;
	m->rehearsed = true;
	return err ?: renew_all(m);
}

/* Whether enough has come to rehearse. */
static bool is_enough(const struct merge *m)
{
	int64_t have = bound(m) - m->heap[1]->heap_ns;

	return have > m->rehearsed_ns ||
	       (have > REHEARSED_LEAST_NS && clocks_queued(&m->clocks) > CLOCKS_QUEUED_MOST);
}

int merge_sweep(struct merge *m)
{
	const struct clocks *c = &m->clocks;
	int err = 0;

	clocks_look(&m->clocks, false);
	if (m->set != c->joins + c->steps + c->part_joins + c->parts)
		err = renew_all(m);
	m->set = c->joins + c->steps + c->part_joins + c->parts;
	if (!err && !m->rehearsed && m->heap_count && is_enough(m))
		err = rehearse(m, bound(m));
	return err || !m->rehearsed ? err : sweep_to(m, bound(m), false);
}

int merge_finish(struct merge *m)
{
	int err;

	clocks_look(&m->clocks, true);
	err = renew_all(m);
	if (!err && !m->rehearsed)
		err = rehearse(m, INT64_MAX);
	err = err ?: sweep_to(m, INT64_MAX, false);
	err = err ?: decide(m, INT64_MAX);
	return err ?: give(m, INT64_MAX);
}
