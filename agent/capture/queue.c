// SPDX-License-Identifier: GPL-2.0
/* Combo queue: see queue.h. */
#include "queue.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FIRST_FRAME_COST (64 * 16) /* fill.h */

void event_signal(int fd)
{
	uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		; /* EAGAIN: it is readable already */
}

void event_clear(int fd)
{
	uint64_t value;

	while (read(fd, &value, sizeof(value)) < 0 && errno == EINTR)
		; /* EAGAIN: it was empty */
}

void event_wait(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, timeout_ms) > 0)
		event_clear(fd);
}

int queue_init(struct queue *q, unsigned int len, size_t combo_size, size_t snaplen, uint32_t lanes)
{
	memset(q, 0, offsetof(struct queue, slots));
	q->size = combo_size;
	q->filled_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	q->freed_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	q->work_fd = -1;
	if (q->filled_fd < 0 || q->freed_fd < 0)
		return -errno;
	q->positions = calloc((size_t)len * lanes * 3 + 1, sizeof(*q->positions));
	if (!q->positions)
		return -ENOMEM;
	for (; q->len < len; q->len++) {
		struct slot *s = &q->slots[q->len];

		s->ends = q->positions + (size_t)q->len * lanes * 3;
		s->from = s->ends + lanes;
		s->last = s->from + lanes;
		if (combo_init_shared(&s->combo, combo_size, snaplen,
				      q->len ? &q->slots[0].combo : NULL))
			return -ENOMEM;
	}
	return 0;
}

int queue_init_pipelines(struct queue *q, unsigned int pipelines, size_t combo_size)
{
	q->pipelines = pipelines;
	q->frame_cost = FIRST_FRAME_COST;
	q->list_cost = 16 * combo_size;
	q->work_fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (q->work_fd < 0)
		return -errno;
	q->lists = malloc((size_t)q->len * COMBO_FRAMES_MAX * sizeof(*q->lists));
	q->wires = malloc((size_t)q->len * COMBO_WIRE_MAX);
	if (!q->lists || !q->wires)
		return -ENOMEM;
	for (unsigned int i = 0; i < q->len; i++) {
		q->slots[i].list = q->lists + (size_t)i * COMBO_FRAMES_MAX;
		q->slots[i].wire = q->wires + (size_t)i * COMBO_WIRE_MAX;
	}
	return 0;
}

void queue_set_size(struct queue *q, size_t combo_size)
{
	for (unsigned int i = 0; i < q->len; i++)
		q->slots[i].combo.size = combo_size;
}

void queue_free(struct queue *q)
{
	while (q->len)
		combo_free(&q->slots[--q->len]
				    .combo); /* the first one last: others share its memory */
	free(q->positions);
	free(q->lists);
	free(q->wires);
	close(q->filled_fd);
	close(q->freed_fd);
	if (q->work_fd >= 0)
		close(q->work_fd);
}

static struct slot *slot_at(struct queue *q, unsigned int index)
{
	return &q->slots[index % q->len];
}

/* ---- capture thread -------------------------------------------------------------------------- */

struct slot *queue_slot(struct queue *q)
{
	unsigned int tail = __atomic_load_n(&q->tail, __ATOMIC_ACQUIRE);

	return q->head - tail < q->len ? slot_at(q, q->head) : NULL;
}

void queue_push(struct queue *q)
{
	struct slot *s = slot_at(q, q->head);
	bool is_list = slot_is_list(s);

	if (!is_list) {
		s->filled = true;
		q->claimed++; /* only before the pipelines' threads start, or without pipelines */
	}
	__atomic_store_n(&q->head, q->head + 1, __ATOMIC_RELEASE);
	event_signal(is_list ? q->work_fd : q->filled_fd);
}

void queue_end(struct queue *q)
{
	__atomic_store_n(&q->ended, true, __ATOMIC_RELEASE);
	event_signal(q->filled_fd);
}

void queue_wait_slot(struct queue *q, int timeout_ms)
{
	__atomic_store_n(&q->waits, true, __ATOMIC_RELEASE);
	event_signal(q->filled_fd); /* a full queue may be a reason to drop combos from the store */
	if (!queue_slot(q))
		event_wait(q->freed_fd, timeout_ms);
	__atomic_store_n(&q->waits, false, __ATOMIC_RELEASE);
}

/* ---- pipelines ------------------------------------------------------------------------------- */

/* The semaphore counts slots to fill, whichever thread fills them. */
struct slot *queue_claim(struct queue *q)
{
	uint64_t one;

	while (read(q->work_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	if (__atomic_load_n(&q->stopped, __ATOMIC_ACQUIRE))
		return NULL;
	if (__atomic_exchange_n(&q->again, false, __ATOMIC_ACQ_REL))
		return slot_at(q, __atomic_load_n(&q->tail, __ATOMIC_RELAXED));
	/* The capture thread's stores to the slot are visible after the load of `head`. */
	(void)__atomic_load_n(&q->head, __ATOMIC_ACQUIRE);
	return slot_at(q, __atomic_fetch_add(&q->claimed, 1, __ATOMIC_RELAXED));
}

/* Wakes the export thread only for the slot that it waits for. The fence pairs with queue_pop's:
 * either this thread sees the new tail, or the export thread sees that the slot is filled. */
void queue_filled(struct queue *q, struct slot *s)
{
	__atomic_store_n(&s->filled, true, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (s == slot_at(q, __atomic_load_n(&q->tail, __ATOMIC_RELAXED)))
		event_signal(q->filled_fd);
}

void queue_stop(struct queue *q)
{
	__atomic_store_n(&q->stopped, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < queue_pipelines(q); i++)
		event_signal(q->work_fd);
}

/* ---- export thread --------------------------------------------------------------------------- */

static bool is_empty(struct queue *q)
{
	return __atomic_load_n(&q->head, __ATOMIC_ACQUIRE) == q->tail;
}

struct slot *queue_front(struct queue *q)
{
	struct slot *s = slot_at(q, q->tail);

	return !is_empty(q) && __atomic_load_n(&s->filled, __ATOMIC_ACQUIRE) ? s : NULL;
}

void queue_pop(struct queue *q)
{
	struct slot *s = slot_at(q, q->tail);

	combo_reset(&s->combo);
	s->filled = false;
	if (slot_is_list(s) && s->at < s->listed) {
		__atomic_store_n(&q->again, true, __ATOMIC_RELEASE);
		event_signal(q->work_fd);
		return;
	}
	s->listed = s->at = s->clock_len = 0;
	s->wire_len = 0;
	__atomic_store_n(&q->tail, q->tail + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* A full queue wakes the producer when it is half empty, so that it works on several slots
	 * and does not wake up for each. */
	if (__atomic_load_n(&q->head, __ATOMIC_RELAXED) - q->tail <= q->len / 2)
		event_signal(q->freed_fd);
}

bool queue_is_full(struct queue *q)
{
	unsigned int tail = __atomic_load_n(&q->tail, __ATOMIC_RELAXED);

	return __atomic_load_n(&q->waits, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&q->head, __ATOMIC_ACQUIRE) - tail == q->len;
}

bool queue_finished(struct queue *q)
{
	return __atomic_load_n(&q->ended, __ATOMIC_ACQUIRE) && is_empty(q);
}
