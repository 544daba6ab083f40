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

/* By how much the newest stamps were ahead of another time, ns. */
struct bridge {
	uint32_t count; /* also those that were overwritten */
	int64_t of[BRIDGE_NOTES];
};

static inline void bridge_note(struct bridge *b, int64_t ahead_ns)
{
	b->of[b->count++ % BRIDGE_NOTES] = ahead_ns;
}

/* Returns whether there are enough, and sets the lower quartile, and its variance in ns^2. */
bool bridge_ahead(const struct bridge *b, int64_t *ahead_ns, double *variance);

#endif
