/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Progress: a sensor's message, so that a sensor that hears nothing can be told from one that is
 * late: then it comes twice a second. It also has the sensor's measurement of the collector's
 * clock.
 *
 *     kind 1, varint exported, before 8, varint ahead (zigzag), varint round_trip
 */
#ifndef WIRE_PROGRESS_H
#define WIRE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#define PROGRESS_INTERVAL_NS 500000000ULL
#define PROGRESS_WIRE_MAX (1 + 10 + 8 + 10 + 10)

struct progress {
	uint64_t exported;  /* the first frames of the run: they contain all frames that the sensor
			     * will ever send with stamps below */
	uint64_t before_ns; /* this, ns since 1970-01-01 UTC; 0: not known */
	int64_t ahead_ns;   /* the clock that stamps frames, ahead of the collector's, */
	uint64_t round_trip_ns; /* measured with this round trip; 0: not measured */
};

/* Writes a MESSAGE_PROGRESS message. Returns its bytes, at most PROGRESS_WIRE_MAX. */
size_t progress_write(uint8_t out[PROGRESS_WIRE_MAX], const struct progress *p);
/* Reads one. Bytes after it are from a later version and are skipped. Returns 0 or -EBADMSG. */
int progress_read(struct progress *p, const uint8_t *in, size_t len);

#endif
