// SPDX-License-Identifier: GPL-2.0
/* Order: see order.h. */
#include "order.h"

#include <errno.h>
#include <stdlib.h>

static bool is_before(const struct transmission *a, const struct transmission *b)
{
	int64_t x = transmission_ns(a), y = transmission_ns(b);

	return x < y || (x == y && a->key < b->key);
}

int order_put(struct order *o, struct transmission *t)
{
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
	for (; i && is_before(t, o->heap[(i - 1) / 2]); i = (i - 1) / 2)
		o->heap[i] = o->heap[(i - 1) / 2];
	o->heap[i] = t;
	return 0;
}

struct transmission *order_get(struct order *o, int64_t unified_ns)
{
	struct transmission *first, *last;
	uint32_t i = 0, child;

	if (!o->count || (transmission_ns(o->heap[0]) >= unified_ns && unified_ns != INT64_MAX))
		return NULL;
	first = o->heap[0];
	last = o->heap[--o->count];
	while ((child = 2 * i + 1) < o->count) {
		if (child + 1 < o->count && is_before(o->heap[child + 1], o->heap[child]))
			child++;
		if (!is_before(o->heap[child], last))
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
