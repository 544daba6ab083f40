/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Watermark: a time, and a number of frames. All frames with stamps below the time that the source
 * will ever return are among the run's first frames, as many as this number. The capture thread
 * raises it, the export thread reads it.
 */
#ifndef AGENT_CAPTURE_WATERMARK_H
#define AGENT_CAPTURE_WATERMARK_H

#include <stdint.h>

#include "agent/source/source.h"

struct watermark {
	unsigned int changes; /* common/changes.h */
	struct watermark_mark {
		uint64_t frames;
		uint64_t before_ns; /* ns since 1970-01-01 UTC, of the clock that stamps frames; 0:
				     * not known */
	} mark;

	/* The capture thread's own. */
	uint64_t until_ns;		      /* CLOCK_MONOTONIC of the mark; never decreases */
	uint64_t realtime_minus_monotonic_ns; /* the mark's is their sum */
};

/* The source, which has a clock, has returned `frames` frames of the run, and all frames that it
 * had at CLOCK_MONOTONIC `heard_ns`, except those that it withholds. */
void watermark_set(struct watermark *w, const struct source *s, uint64_t frames, uint64_t heard_ns);
/* Any thread. */
void watermark_read(const struct watermark *w, struct watermark_mark *out);

#endif
