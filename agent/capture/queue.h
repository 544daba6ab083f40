/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The second ring of the paper's figure 1: a few combos between the capture thread, which fills
 * them in place, and the export thread. One producer, one consumer; indices are handed over
 * with release and acquire, eventfds are there to sleep on. All memory is taken at start.
 */
#ifndef AGENT_CAPTURE_QUEUE_H
#define AGENT_CAPTURE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/combo.h"

#define QUEUE_LEN 8 /* combos at most, and if nothing is said; a power of two */

struct queue {
	unsigned int len;  /* slots in use, a power of two */
	size_t size;	   /* bytes that each has room for */
	unsigned int head; /* next to fill; written by the producer */
	unsigned int tail; /* next to export; written by the consumer */
	bool ended;	   /* written by the producer, after its last push */
	int filled_fd;	   /* readable when something was pushed, or ended */
	int freed_fd;	   /* readable when something was popped */
	struct combo slots[QUEUE_LEN];
};

/* Returns 0 or -errno. `len` is a power of two, QUEUE_LEN at most. */
int queue_init(struct queue *q, unsigned int len, size_t combo_size, size_t snaplen);
/* Combos of fewer bytes than there is room for, from now on. */
void queue_set_size(struct queue *q, size_t combo_size);
void queue_free(struct queue *q);

/* Producer. The slot to fill, or NULL while all are waiting for export. */
struct combo *queue_slot(struct queue *q);
void queue_push(struct queue *q);
void queue_end(struct queue *q);
/* Waits for queue_slot not to be NULL, `timeout_ms` at most. */
void queue_wait_slot(struct queue *q, int timeout_ms);

/* Consumer. The oldest filled combo, or NULL. */
struct combo *queue_front(struct queue *q);
void queue_pop(struct queue *q);
/* True while the producer waits. */
bool queue_is_full(struct queue *q);
/* True when the producer has ended and nothing is left. */
bool queue_finished(struct queue *q);

/* Empties an eventfd; and waits for one. */
void event_clear(int fd);
void event_signal(int fd);
void event_wait(int fd, int timeout_ms);

#endif
