// SPDX-License-Identifier: GPL-2.0
/* Own time: see own.h. In: untrusted numbers. */
#include "own.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define BACK_NS 1000000
#define GAP_NS 60000000000LL

static int64_t raw_time(const struct domain *d, int64_t stamp_ns)
{
	int64_t monotonic = stamp_ns - d->reading.difference_ns;
	double since = monotonic - d->reading.monotonic_ns;

	return monotonic + d->reading.raw_ns + llrint(d->reading.slope * since);
}

int64_t own_time(const struct domain *d, int64_t stamp_ns)
{
	if (d->follows == FOLLOWS_TSFT)
		return stamp_ns - d->behind_ns + d->stepped_ns;
	if (d->follows == FOLLOWS_RAW)
		return raw_time(d, stamp_ns) + d->stepped_ns;
	return stamp_ns + d->stepped_ns;
}

/* Puts receptions from this number on into the order of their own time. */
static void sort(struct queue *q, uint64_t from)
{
	for (uint64_t n = from > q->head ? from : q->head + 1; n < q->tail; n++) {
		struct reception r = *queue_at(q, n);
		uint64_t to = n;

		for (; to > q->head && queue_at(q, to - 1)->own_ns > r.own_ns; to--)
			*queue_at(q, to) = *queue_at(q, to - 1);
		*queue_at(q, to) = r;
	}
}

/* The TSFT has gone back while the stamps went on. One of both is wrong: a late stamp is followed
 * by one that is not, and a reset clock stays as it is. */
static bool doubt(struct domain *d, int64_t stamp_ns, int64_t tsft_ns)
{
	if (stamp_ns - tsft_ns - d->doubt_behind_ns <= OWN_APART_NS) {
		sort(&d->queue, d->doubt_from);
		d->doubted = false;
	}
	return !d->doubted || stamp_ns - d->doubt_stamp_ns <= OWN_DOUBT_NS;
}

/* If stamp and TSFT have drifted apart, one of them was set: the TSFT, if it went back, or far
 * ahead. */
bool own_tsft(struct domain *d, int64_t stamp_ns, int64_t tsft_ns)
{
	int64_t on = tsft_ns - d->tsft_ns, apart = stamp_ns - tsft_ns - d->behind_ns;

	if (d->doubted && !doubt(d, stamp_ns, tsft_ns))
		return false;
	if (d->arrived && llabs(apart) > OWN_APART_NS && (on < -BACK_NS || on > GAP_NS)) {
		if (on > 0 || apart < 0 || apart > OWN_LATE_NS)
			return false;
		if (!d->doubted) {
			d->doubted = true;
			d->doubt_from = d->queue.tail;
			d->doubt_behind_ns = d->behind_ns;
			d->doubt_stamp_ns = stamp_ns;
		}
	}
	if (!d->arrived)
		d->coarse_ns = stamp_ns - tsft_ns;
	d->follows = FOLLOWS_TSFT;
	d->clock.free = true;
	d->tsft_ns = tsft_ns;
	d->behind_ns = stamp_ns - tsft_ns;
	return true;
}

int own_move(struct domain *from, struct domain *to)
{
	struct queue *q = &from->queue;
	uint64_t first = from->doubt_from > q->head ? from->doubt_from : q->head;

	for (uint64_t n = first; from->doubted && n < q->tail; n++) {
		struct reception *r = queue_push(&to->queue);

		if (!r)
			return -ENOMEM;
		*r = *queue_at(q, n);
		if (to->follows == FOLLOWS_TSFT && r->has_tsft)
			r->own_ns += to->stepped_ns - from->stepped_ns;
		else
			r->own_ns = own_time(to, r->stamp_ns);
		if (!to->arrived)
			to->first_ns = r->own_ns;
		to->arrived = true;
		to->newest_ns = r->own_ns;
	}
	if (from->doubted && first < q->tail)
		q->tail = first;
	from->doubted = false;
	return 0;
}

/* Receptions since the last reading were put on the line through the last two: now the next one is
 * known. */
static void put_right(struct domain *d, uint64_t from)
{
	for (uint64_t n = from < d->queue.kept ? d->queue.kept : from; n < d->queue.tail; n++) {
		struct reception *r = queue_at(&d->queue, n);

		r->own_ns = own_time(d, r->stamp_ns);
	}
}

void own_ahead(struct domain *d, int64_t ahead_ns, int64_t round_trip_ns, int64_t at_ns)
{
	int64_t behind = d->follows == FOLLOWS_TSFT  ? d->behind_ns
			 : d->follows == FOLLOWS_RAW ? d->reading.difference_ns - d->reading.raw_ns
						     : 0;

	d->coarse_ns = behind - d->stepped_ns - ahead_ns;
	d->anchor_ns = own_time(d, at_ns + ahead_ns);
	d->anchor_sd = round_trip_ns / 2.0;
	d->anchored = d->placed = true;
}

/* From here on, own time is another clock's, which is `ns` ahead. */
static void shift(struct domain *d, int64_t ns)
{
	for (uint64_t n = d->queue.kept; n < d->queue.tail; n++)
		queue_at(&d->queue, n)->own_ns += ns;
	for (unsigned int n = 0; n < d->waiting_count; n++)
		d->waiting[n].own_ns += ns;
	d->first_ns += ns;
	d->newest_ns += ns;
	d->anchor_ns += ns;
	d->coarse_ns -= ns;
	d->samples.count = d->suspects.count = d->outliers = 0;
	if (d->clock.known)
		clock_own_shifted(&d->clock, ns);
}

bool own_reading(struct domain *d, int64_t monotonic_ns, int64_t difference_ns, int64_t raw_ns)
{
	struct reading *last = &d->reading;
	int64_t on = monotonic_ns - last->monotonic_ns;

	if (d->follows == FOLLOWS_TSFT)
		return true;
	if (d->follows == FOLLOWS_RAW && on < 0)
		return false;
	if (d->follows == FOLLOWS_STAMP)
		shift(d, raw_ns - difference_ns);
	else if (on) {
		last->slope = (double)(raw_ns - last->raw_ns) / on;
		put_right(d, d->since);
	}
	last->monotonic_ns = monotonic_ns;
	last->difference_ns = difference_ns;
	last->raw_ns = raw_ns;
	d->since = d->queue.tail;
	d->follows = FOLLOWS_RAW;
	return true;
}
