// SPDX-License-Identifier: GPL-2.0
/* Combo queue: see queue.h. */
#include "queue.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

int queue_init(struct queue *q, unsigned int len, size_t combo_size, size_t snaplen)
{
	memset(q, 0, offsetof(struct queue, slots));
	q->size = combo_size;
	q->filled_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	q->freed_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (q->filled_fd < 0 || q->freed_fd < 0)
		return -errno;
	for (; q->len < len; q->len++)
		if (combo_init_shared(&q->slots[q->len], combo_size, snaplen,
				      q->len ? &q->slots[0] : NULL))
			return -ENOMEM;
	return 0;
}

void queue_set_size(struct queue *q, size_t combo_size)
{
	for (unsigned int i = 0; i < q->len; i++)
		q->slots[i].size = combo_size;
}

void queue_free(struct queue *q)
{
	while (q->len)
		combo_free(&q->slots[--q->len]); /* the first one last: others share its memory */
	close(q->filled_fd);
	close(q->freed_fd);
}

struct combo *queue_slot(struct queue *q)
{
	unsigned int tail = __atomic_load_n(&q->tail, __ATOMIC_ACQUIRE);

	return q->head - tail < q->len ? &q->slots[q->head % q->len] : NULL;
}

void queue_push(struct queue *q)
{
	__atomic_store_n(&q->head, q->head + 1, __ATOMIC_RELEASE);
	event_signal(q->filled_fd);
}

void queue_end(struct queue *q)
{
	__atomic_store_n(&q->ended, true, __ATOMIC_RELEASE);
	event_signal(q->filled_fd);
}

void queue_wait_slot(struct queue *q, int timeout_ms)
{
	event_wait(q->freed_fd, timeout_ms);
}

struct combo *queue_front(struct queue *q)
{
	unsigned int head = __atomic_load_n(&q->head, __ATOMIC_ACQUIRE);

	return head != q->tail ? &q->slots[q->tail % q->len] : NULL;
}

void queue_pop(struct queue *q)
{
	__atomic_store_n(&q->tail, q->tail + 1, __ATOMIC_RELEASE);
	event_signal(q->freed_fd);
}

bool queue_is_full(struct queue *q)
{
	return __atomic_load_n(&q->head, __ATOMIC_ACQUIRE) - q->tail == q->len;
}

bool queue_finished(struct queue *q)
{
	return __atomic_load_n(&q->ended, __ATOMIC_ACQUIRE) && !queue_front(q);
}
