/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clock readings: what the sensor's clocks showed at some moments. They are an event in a combo
 * (combo.h). With them, stamps of several sensors can be put on one clock.
 *
 *     for each reading, as differences from the one before it, or from 0:
 *     varint monotonic, varint realtime_minus_monotonic, varint raw_minus_monotonic; the last two
 *     as zigzag
 */
#ifndef WIRE_CLOCK_READINGS_H
#define WIRE_CLOCK_READINGS_H

#include <stddef.h>
#include <stdint.h>

/* Linux's clocks. CLOCK_MONOTONIC_RAW is never slewed, so its difference changes with each slew.
 * The difference of CLOCK_REALTIME changes only if somebody sets the clock. */
struct clock_reading {
	uint64_t monotonic_ns;
	int64_t realtime_minus_monotonic_ns; /* stamps after the reading are made with it */
	int64_t raw_minus_monotonic_ns;
};

#define CLOCK_READINGS_MAX 16	  /* in an event */
#define CLOCK_READING_WIRE_MAX 30 /* bytes of each */

struct clock_readings {
	unsigned int count;
	struct clock_reading list[CLOCK_READINGS_MAX];
};

/* Returns the bytes written, at most CLOCK_READING_WIRE_MAX for each reading. */
size_t clock_readings_write(uint8_t *out, const struct clock_readings *r);
/* Returns 0, or -EBADMSG if there is no reading or are too many, or a number is malformed. */
int clock_readings_read(struct clock_readings *r, const uint8_t *in, size_t len);

/* Returns a - b modulo 2^64, as clocks may show anything. */
static inline int64_t clock_difference(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

#endif
