/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A dwell: a stretch of time in which a radio listened to one channel, and what it heard; an event
 * amid frames (combo.h). It is told when it ends, a long one in parts that join without a gap, so
 * that the frames of all dwells are those that the hook has seen while channels were sampled.
 *
 *     interface 1, varints mhz width center, from 8, varints to (less from), frames, switch,
 *     error, marked, up
 *
 * Up may be left out, as sensors of before do. What follows is of a later version, and passed over.
 */
#ifndef WIRE_DWELL_H
#define WIRE_DWELL_H

#include <stddef.h>
#include <stdint.h>

struct dwell {
	uint8_t interface;  /* the sensor's number of it, as frames have it */
	uint16_t mhz;	    /* middle of the primary 20 MHz */
	uint16_t width;	    /* MHz */
	uint16_t center;    /* MHz, middle of the whole width */
	uint64_t from_ns;   /* ns since 1970-01-01 UTC, as frames are stamped */
	uint64_t to_ns;	    /* not below it */
	uint64_t frames;    /* seen at the hook in between */
	uint64_t marked;    /* besides: seen while the radio changed to this channel */
	uint64_t switch_ns; /* that the change to this channel took; 0: it was there already */
	uint32_t error;	    /* errno of a change that failed: no time, no frames; else 0 */
	uint64_t up_ns;	    /* from_ns by a clock that nobody sets, which begins with its machine;
			     * 0: not told */
};

#define DWELL_MAX 80 /* bytes of the longest */

/* Returns the bytes written, at most DWELL_MAX. */
size_t dwell_write(uint8_t out[DWELL_MAX], const struct dwell *d);
/* Returns 0 or -EBADMSG. */
int dwell_read(struct dwell *d, const uint8_t *in, size_t len);

#endif
