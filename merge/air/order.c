// SPDX-License-Identifier: GPL-2.0
/* Order: see order.h. */
#include "order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool is_before(const struct order_entry *a, const struct order_entry *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->tie < b->tie;
}

int order_put(struct order *o, int64_t at_ns, uint64_t tie, void *what)
{
	struct order_entry new = { at_ns, tie, what };
	uint32_t i = o->count;

	if (o->count == o->room) {
		uint32_t room = 2 * o->room + 256;
		void *more = realloc(o->heap, room * sizeof(*o->heap));

		if (!more)
			return -ENOMEM;
		o->heap = more;
		o->room = room;
	}
	o->count++;
	for (; i && is_before(&new, &o->heap[(i - 1) / 2]); i = (i - 1) / 2)
		o->heap[i] = o->heap[(i - 1) / 2];
	o->heap[i] = new;
	return 0;
}

void *order_get(struct order *o, int64_t before_ns)
{
	struct order_entry last;
	uint32_t i = 0, child;
	void *first;

	if (!o->count || (o->heap[0].at_ns >= before_ns && before_ns != INT64_MAX))
		return NULL;
	first = o->heap[0].what;
	last = o->heap[--o->count];
	while ((child = 2 * i + 1) < o->count) {
		if (child + 1 < o->count && is_before(&o->heap[child + 1], &o->heap[child]))
			child++;
		if (!is_before(&o->heap[child], &last))
			break;
		o->heap[i] = o->heap[child];
		i = child;
	}
	if (o->count)
		o->heap[i] = last;
	return first;
}

void order_free(struct order *o)
{
	free(o->heap);
	*o = (struct order){ .heap = NULL };
}
