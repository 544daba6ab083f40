/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pipeline (--pipelines): a thread that puts listed frames into combos, and compresses them. In:
 * slots of the queue with lists. Out: the same slots with compressed combos. The capture thread and
 * the export thread do for each frame only what needs its place in the order of frames.
 */
#ifndef AGENT_EXPORT_PIPELINE_H
#define AGENT_EXPORT_PIPELINE_H

#include "agent/capture/queue.h"
#include "agent/source/source.h"
#include "compressor.h"

struct pipeline {
	struct queue *queue;
	struct source *source;
	struct compressor *compressor;
	const struct compressor_sight *sight;
	struct combo_templates *templates; /* for the combo that it fills */
};

/* Returns 0 or -ENOMEM. */
int pipeline_init(struct pipeline *p, struct queue *queue, struct source *source,
		  struct compressor *compressor, const struct compressor_sight *sight);
void pipeline_free(struct pipeline *p);
/* Runs until queue_stop. */
void *pipeline_thread(void *pipeline);

/* Puts the slot's next listed frames into its combo, as many as fit, and closes it. */
void pipeline_fill(struct pipeline *p, struct slot *s);

#endif
