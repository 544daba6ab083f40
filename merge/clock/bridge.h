/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bridge: radios of one sensor whose TSFT are domains of their own share the sensor's clock, which
 * has stamped all their frames. So radios on different channels, which hear no frame in common, are
 * still in one part. Stamps are late now and then, and never early: the lower quartile is taken.
 */
#ifndef MERGE_CLOCK_BRIDGE_H
#define MERGE_CLOCK_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

#define BRIDGE_NOTES 64
#define BRIDGE_LEAST 8

struct bridge_note {
	int64_t at_ns;	  /* of the other time */
	int64_t ahead_ns; /* by which the stamp was ahead of it */
};

struct bridge {
	uint32_t count; /* also those that were overwritten */
	struct bridge_note of[BRIDGE_NOTES];
	double slope;	     /* of `ahead_ns` */
	unsigned int slopes; /* that it is the mean of; 0: there is no last line */
	unsigned int strange;
	int64_t last_ns, last_ahead_ns;
};

static inline void bridge_note(struct bridge *b, int64_t at_ns, int64_t ahead_ns)
{
	b->of[b->count++ % BRIDGE_NOTES] = (struct bridge_note){ at_ns, ahead_ns };
}

/* Returns whether there are enough, and sets the lower quartile at a time, and its variance in
 * ns^2. */
bool bridge_ahead(const struct bridge *b, int64_t at_ns, int64_t *ahead_ns, double *variance);
/* Corrects the slope by what bridge_ahead() has said, which is far from the line if an interrupt
 * was late. */
void bridge_follow(struct bridge *b, int64_t at_ns, int64_t ahead_ns, double variance);

#endif
