// SPDX-License-Identifier: GPL-2.0
/* Merge: see merge.h. */
#include "merge.h"

#include <errno.h>
#include <string.h>

#include "common/monotonic.h"
#include "merge/clock/arrive.h"
#include "merge/clock/parts.h"
#include "merge/clock/seek.h"
#include "merge/model/chunk.h"
#include "rehearse.h"
#include "retire.h"
#include "sweep.h"

#define NEWS_SHARE 16
#define NEWS_NS 20000000 /* of the machine's time */
#define AHEAD_NS 300000000LL
#define REHEARSED_NS 8000000000LL

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

void merge_free(struct merge *m)
{
	for (unsigned int i = 0; i < m->clocks.count; i++) {
		struct queue *q = &m->clocks.list[i]->queue;

		for (; q->kept != q->tail; q->kept++)
			chunk_release(queue_at(q, q->kept)->chunk);
	}
	sweep_forget(m);
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
	radios_new_run(&m->radios, &m->clocks, sensor);
}

void merge_run_before(struct merge *m, uint32_t sensor)
{
	radios_run_before(&m->radios, &m->clocks, sensor);
}

void merge_ended(struct merge *m, uint32_t sensor)
{
	radios_ended(&m->radios, sensor);
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
	uint64_t set;
	int64_t limit;
	int err = 0;

	if (is_early(m))
		return 0;
	m->news = 0;
	retire(m);
	seek_all(&m->clocks, reached(m));
	set = c->joins + c->steps + c->part_joins + c->parts;
	if (m->set != set) {
		err = parts_find_alone(&m->clocks);
		err = err ?: sweep_renew(m);
	}
	m->set = set;
	if (!err && !m->rehearsed)
		err = rehearse(m);
	if (err || !m->rehearsed)
		return err;
	limit = sweep_bound(m, false);
	err = sweep_to(m, limit, false);
	return err || m->hold_ns == INT64_MAX ? err : sweep_give_all(m, limit);
}

int merge_finish(struct merge *m)
{
	int err;

	seek_all(&m->clocks, INT64_MAX);
	err = parts_find_alone(&m->clocks);
	err = err ?: sweep_renew(m);
	if (!err && !m->rehearsed)
		err = rehearse_finish(m);
	err = err ?: sweep_to(m, INT64_MAX, false);
	err = err ?: sweep_decide(m, INT64_MAX);
	return err ?: sweep_give(m, INT64_MAX);
}
