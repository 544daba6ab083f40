// SPDX-License-Identifier: GPL-2.0
/* Earliest: see earliest.h. */
#include "earliest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static void set(struct earliest *e, uint32_t at, struct domain *d)
{
	e->heap[at] = d;
	d->heap_at = at;
}

/* At equal times, the earlier stamp is first: the order does not depend on arrivals.
 */
static bool is_before(const struct domain *a, const struct domain *b)
{
	return a->heap_ns != b->heap_ns ? a->heap_ns < b->heap_ns : a->heap_tie < b->heap_tie;
}

static void up(struct earliest *e, struct domain *d, uint32_t at)
{
	for (; at > 1 && is_before(d, e->heap[at / 2]); at /= 2)
		set(e, at, e->heap[at / 2]);
	set(e, at, d);
}

static void down(struct earliest *e, struct domain *d, uint32_t at)
{
	uint32_t child;

	while ((child = 2 * at) <= e->count) {
		if (child < e->count && is_before(e->heap[child + 1], e->heap[child]))
			child++;
		if (!is_before(e->heap[child], d))
			break;
		set(e, at, e->heap[child]);
		at = child;
	}
	set(e, at, d);
}

static void leave(struct earliest *e, struct domain *d)
{
	uint32_t at = d->heap_at;
	struct domain *last = e->heap[e->count--];

	d->heap_at = 0;
	if (last == d)
		return;
	down(e, last, at);
	up(e, last, last->heap_at);
}

int earliest_renew(struct earliest *e, struct domain *d)
{
	const struct reception *first;

	if (queue_is_empty(&d->queue) || (e->known && !d->clock.known)) {
		if (d->heap_at)
			leave(e, d);
		return 0;
	}
	if (!d->heap_at && e->count + 1 >= e->room) {
		uint32_t room = 2 * e->room + 64;
		void *more = realloc(e->heap, room * sizeof(*e->heap));

		if (!more)
			return -ENOMEM;
		e->heap = more;
		e->room = room;
	}
	first = queue_at(&d->queue, d->queue.head);
	d->heap_ns = domain_unified(d, first->own_ns);
	d->heap_tie = first->stamp_ns;
	up(e, d, d->heap_at ?: ++e->count);
	down(e, d, d->heap_at);
	return 0;
}

void earliest_free(struct earliest *e)
{
	free(e->heap);
	*e = (struct earliest){ .heap = NULL };
}
