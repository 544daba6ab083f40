/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A dwell: a period during which a radio listened to one channel, and its frame counts. It is an
 * event in a combo (combo.h). The sensor sends it when the dwell ends; a long dwell is sent in
 * parts without gaps. So all dwells together count the frames that the hook saw while channels were
 * sampled.
 *
 *     interface 1, varints mhz width center, from 8, varints to (less from), frames, switch,
 *     error, marked, up
 *
 * Earlier sensors leave out `up`. Bytes after it are from a later version and are skipped.
 */
#ifndef WIRE_DWELL_H
#define WIRE_DWELL_H

#include <stddef.h>
#include <stdint.h>

struct dwell {
	uint8_t interface;  /* the sensor's number for it, as in frames */
	uint16_t mhz;	    /* middle of the primary 20 MHz */
	uint16_t width;	    /* MHz */
	uint16_t center;    /* MHz, middle of the whole width */
	uint64_t from_ns;   /* ns since 1970-01-01 UTC, as frames are stamped */
	uint64_t to_ns;	    /* not below it */
	uint64_t frames;    /* seen at the hook during the dwell */
	uint64_t marked;    /* also seen, while the radio changed to this channel */
	uint64_t switch_ns; /* duration of the channel change; 0: none was needed */
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
