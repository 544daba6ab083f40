// SPDX-License-Identifier: GPL-2.0
/* Queue: see queue.h. */
#include "queue.h"

#include <stdlib.h>

#define ROOM_FIRST 16

static bool grow(struct queue *q)
{
	uint32_t room = q->room ? 2 * q->room : ROOM_FIRST;
	struct reception *ring = malloc(room * sizeof(*ring));

	if (!ring)
		return false;
	for (uint64_t n = q->kept; n < q->tail; n++)
		ring[n & (room - 1)] = *queue_at(q, n);
	free(q->ring);
	q->ring = ring;
	q->room = room;
	return true;
}

struct reception *queue_push(struct queue *q)
{
	if (q->tail - q->kept == q->room && !grow(q))
		return NULL;
	return queue_at(q, q->tail++);
}

void queue_free(struct queue *q)
{
	free(q->ring);
	*q = (struct queue){ .ring = NULL };
}
