/* SPDX-License-Identifier: GPL-2.0 */
/* Queue: receptions of one clock in their order, from arrival to sweep. */
#ifndef MERGE_CLOCK_QUEUE_H
#define MERGE_CLOCK_QUEUE_H

#include "merge/model/reception.h"

struct queue {
	struct reception *ring; /* `room` of them, a power of two; NULL: none yet */
	uint32_t room;
	uint64_t head, tail; /* numbers of the first reception, and of the next one to come */
	uint64_t kept;	     /* number of the first one that is still here: the sweep may go back */
};

static inline bool queue_is_empty(const struct queue *q)
{
	return q->head == q->tail;
}

/* The reception with this number, from `kept` to `tail` - 1. */
static inline struct reception *queue_at(const struct queue *q, uint64_t number)
{
	return &q->ring[number & (q->room - 1)];
}

/* Returns a place at the end, or NULL without memory. */
struct reception *queue_push(struct queue *q);
void queue_free(struct queue *q);

#endif
