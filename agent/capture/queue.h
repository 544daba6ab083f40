/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue: the second ring of the paper's figure 1. It has a few combos between the capture thread,
 * which fills them in place, and the export thread. One producer, one consumer: indices pass with
 * release and acquire, eventfds are for sleeping. All memory is allocated at the start.
 *
 * With several pipelines (--pipelines), the capture thread only lists a slot's frames, which stay
 * in the ring. A pipeline's thread (agent/export/pipeline.h) fills the slot's combo with the listed
 * frames. Slots are exported in the order in which the capture thread pushed them, so frames keep
 * their order. If a combo is full before all listed frames are in it, the slot is filled again with
 * the rest after its export.
 */
#ifndef AGENT_CAPTURE_QUEUE_H
#define AGENT_CAPTURE_QUEUE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/combo.h"

#define QUEUE_LEN 8	 /* default of --queue, and its maximum; a power of two */
#define QUEUE_LEN_MAX 32 /* with pipelines */
#define PIPELINES_MAX 16
#define SLOT_CLOCK_MAX 64 /* bytes of two readings */

/* Listed frames are in rings that outlive the agent. Without libbpf there are none. */
#ifdef WITHOUT_BPF
#define QUEUE_LISTS false
#else
#define QUEUE_LISTS true
#endif

struct slot {
	struct combo combo;
	__u64 *ends; /* the source's positions at the combo's end (source.h) */
	bool filled; /* the combo is ready for export */

	/* With pipelines. */
	struct combo_frame *list; /* frames and events in order; their data is in the ring */
	uint32_t listed, at;	  /* so many are listed; those from `at` on are in no combo yet */
	uint64_t first;		  /* frames of the run before list[at] */
	uint32_t clock_at;	  /* clock readings come before list[clock_at] */
	uint32_t clock_len;	  /* bytes of their event; 0: none */
	uint8_t clock[SLOT_CLOCK_MAX];
	__u64 *from, *last; /* positions before list[at], and after the last one */
	uint8_t *wire;	    /* the combo, compressed: COMBO_WIRE_MAX bytes */
	size_t wire_len;
};

struct queue {
	unsigned int len;  /* slots in use, a power of two */
	size_t size;	   /* bytes of each combo */
	unsigned int head; /* next to fill; written by the producer */
	unsigned int tail; /* next to export; written by the consumer */
	bool ended;	   /* written by the producer, after its last push */
	bool waits;	   /* written by the producer: it waits for a slot */
	int filled_fd;	   /* readable when something was pushed, or ended */
	int freed_fd;	   /* readable when something was popped */
	__u64 *positions;  /* of all slots */

	/* With pipelines. */
	unsigned int pipelines; /* 0: the capture thread fills combos */
	int work_fd;		/* a semaphore: slots to fill */
	unsigned int claimed;	/* next slot for a pipeline */
	bool again;		/* the oldest slot is to be filled again */
	bool stopped;		/* no slots will come */
	uint32_t frame_cost;	/* fill.h: an estimate that pipelines update */
	uint32_t list_cost;	/* of a list that fills a combo */
	struct combo_frame *lists;
	uint8_t *wires;

	struct slot slots[QUEUE_LEN_MAX];
};

static inline unsigned int queue_pipelines(const struct queue *q)
{
	return QUEUE_LISTS ? q->pipelines : 0;
}

static inline bool slot_is_list(const struct slot *s)
{
	return QUEUE_LISTS && s->listed;
}

/* Returns the slots for `len` combos (--queue): each pipeline fills one while another waits. */
static inline unsigned int queue_slots(unsigned int len, unsigned int pipelines)
{
	while (len < 2 * pipelines)
		len *= 2;
	return len;
}

/* Returns the limit of combos' bytes with pipelines. How many frames fill a combo is estimated, and
 * the rest of a list that does not fit makes a small combo, which compresses badly. */
static inline size_t queue_size_max(size_t combo_size)
{
	size_t size = combo_size * 3 / 2;

	return size < COMBO_SIZE_MAX ? size : COMBO_SIZE_MAX;
}

/* Returns 0 or -errno. `len` is a power of two, QUEUE_LEN_MAX at most; `lanes` are the
 * source's. */
int queue_init(struct queue *q, unsigned int len, size_t combo_size, size_t snaplen,
	       uint32_t lanes);
/* After queue_init: threads of so many pipelines will fill combos, with about `combo_size` bytes.
 * Returns 0 or -errno. */
int queue_init_pipelines(struct queue *q, unsigned int pipelines, size_t combo_size);
/* From now on limits combos to fewer bytes than their memory. */
void queue_set_size(struct queue *q, size_t combo_size);
void queue_free(struct queue *q);

/* Producer. Returns the slot to fill or list, or NULL while all are in use. */
struct slot *queue_slot(struct queue *q);
/* Passes it on: with a list to a pipeline, else to the export thread. */
void queue_push(struct queue *q);
void queue_end(struct queue *q);
/* Waits until queue_slot is not NULL, at most `timeout_ms`. */
void queue_wait_slot(struct queue *q, int timeout_ms);

/* Pipelines. Waits for a slot to fill, and returns it; NULL after queue_stop. */
struct slot *queue_claim(struct queue *q);
void queue_filled(struct queue *q, struct slot *s);
/* Ends the pipelines' threads, after the export thread has ended. */
void queue_stop(struct queue *q);

/* Consumer. Returns the oldest slot if it is filled, or NULL. */
struct slot *queue_front(struct queue *q);
/* Empties it. If it has more listed frames, a pipeline fills it again. */
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
