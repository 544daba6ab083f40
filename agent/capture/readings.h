/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readings: chooses the clock readings (agent/source/clock.h) that are put in front of a frame. A
 * reader of combos extrapolates CLOCK_MONOTONIC_RAW - CLOCK_MONOTONIC linearly from the last two
 * readings in combos. Always holds: in front of a frame, the extrapolation to the clocks' last
 * reading is right to READINGS_ERROR_NS and the reading's own error, or the reading is put there.
 * Then its predecessor is put there too: the line between the two has the present rate.
 *
 * READINGS_ERROR_NS is well above the readings' noise, or noise would look like a new rate. On x86
 * (2 CPUs, virtual, TSC) a reading is off by 1 ns (standard deviation) and at most by 5 ns; without
 * vDSO by 5 ns and 40 ns. The rate between two readings that are 100 ms apart multiplies this by 15
 * within a second, and then comes another reading.
 */
#ifndef AGENT_CAPTURE_READINGS_H
#define AGENT_CAPTURE_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/source/clock.h"

#define READINGS_AT_ONCE 2
#define READINGS_ERROR_NS 500
#define READINGS_EACH_NS 1000000000ULL /* without news, a reading is chosen so often */
#define READINGS_FAR_NS 10000000000ULL /* nothing is extrapolated over a longer time */

/* Begins zeroed. */
struct readings {
	uint64_t chosen_ns;	      /* clock_offset.measured_ns at the last choice */
	struct clock_reading last[2]; /* the last two, the newest first; monotonic_ns 0: none */
	struct clock_reading told[2]; /* the last two chosen ones */
};

/* Whether readings_choose has work. Inline, because it runs for each frame. */
static inline bool readings_are_new(const struct readings *r, const struct clock_offset *c)
{
	return c && c->measured_ns != r->chosen_ns;
}

/* Takes the clocks' last reading. */
void readings_look(struct readings *r, const struct clock_offset *c);
/* The same before a frame: chooses none, one or two readings for `out`. */
void readings_choose(struct readings *r, const struct clock_offset *c, struct clock_readings *out);

#endif
