/* SPDX-License-Identifier: GPL-2.0 */
/* Thread 1: moves frames from the source into combos. */
#ifndef AGENT_CAPTURE_CAPTURE_H
#define AGENT_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "queue.h"
#include "readings.h"
#include "watermark.h"
#include "agent/radio/dwells.h"
#include "agent/source/source.h"

struct capture {
	struct source *source;
	struct queue *queue;
	struct dwells *dwells; /* NULL: no channel sampling */
	uint64_t limit;	       /* frames of the run: a combo ends there; 0: none */
	int limit_fd;	       /* eventfd, signalled when it is reached; -1 without a limit */
	uint64_t combo_age_ns;
	uint64_t ring_span_max; /* close a combo when its records span this much of the ring */
	bool drain;		/* at a stop, first take all frames, which the kernel has counted */
	bool stop;		/* set by the control thread: no more frames will come */
	bool failed;		/* the source failed; read after the thread has ended */
	struct watermark watermark; /* of the frames in pushed combos */

	/* The thread's own. */
	struct slot *slot;   /* of the open combo or list; NULL: none is open */
	__u64 *marked;	     /* with pipelines: the end of the last list */
	uint64_t taken;	     /* frames of the run so far */
	uint64_t first;	     /* with pipelines: frames of the run before the open list */
	uint32_t counted;    /* frames of the open list, without events */
	uint32_t cost;	     /* of the open list: fill.h */
	uint64_t ring_start; /* where the first frame in it begins */
	struct readings readings;
	uint64_t asked_ns; /* the source was asked for all its frames after this time; 0: never */
};

/* For the frames of `source`, which was handed over as `h`, into `queue`. Returns 0 or -ENOMEM. */
int capture_init(struct capture *c, struct source *source, struct queue *queue,
		 const struct handover *h, uint32_t combo_age_ms);
/* Before the thread: the run's frames so far are in combos. `limit`: how many more are wanted; 0:
 * any number. Returns 0 or -errno. */
int capture_begin(struct capture *c, uint64_t frames, uint64_t limit);
void capture_free(struct capture *c);
/* Runs until the source ends or `stop` is set (with `drain`, until it has no more frames). */
void *capture_thread(void *capture);

#endif
