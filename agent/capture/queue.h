/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue: the second ring of the paper's figure 1. It has a few combos between the capture thread,
 * which fills them in place, and the export thread. One producer, one consumer: indices pass with
 * release and acquire, eventfds are for sleeping. All memory is allocated at the start.
 */
#ifndef AGENT_CAPTURE_QUEUE_H
#define AGENT_CAPTURE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/combo.h"

#define QUEUE_LEN 8 /* most combos, and the default; a power of two */

struct queue {
	unsigned int len;  /* slots in use, a power of two */
	size_t size;	   /* bytes of each combo */
	unsigned int head; /* next to fill; written by the producer */
	unsigned int tail; /* next to export; written by the consumer */
	bool ended;	   /* written by the producer, after its last push */
	int filled_fd;	   /* readable when something was pushed, or ended */
	int freed_fd;	   /* readable when something was popped */
	struct combo slots[QUEUE_LEN];
};

/* Returns 0 or -errno. `len` is a power of two, QUEUE_LEN at most. */
int queue_init(struct queue *q, unsigned int len, size_t combo_size, size_t snaplen);
/* From now on limits combos to fewer bytes than their memory. */
void queue_set_size(struct queue *q, size_t combo_size);
void queue_free(struct queue *q);

/* Producer. Returns the slot to fill, or NULL while all wait for export. */
struct combo *queue_slot(struct queue *q);
void queue_push(struct queue *q);
void queue_end(struct queue *q);
/* Waits until queue_slot is not NULL, at most `timeout_ms`. */
void queue_wait_slot(struct queue *q, int timeout_ms);

/* Consumer. Returns the oldest filled combo, or NULL. */
struct combo *queue_front(struct queue *q);
void queue_pop(struct queue *q);
/* True while the producer waits. */
bool queue_is_full(struct queue *q);
/* True when the producer has ended and the queue is empty. */
bool queue_finished(struct queue *q);

/* Clear an eventfd, and wait for one. */
void event_clear(int fd);
void event_signal(int fd);
void event_wait(int fd, int timeout_ms);

#endif
