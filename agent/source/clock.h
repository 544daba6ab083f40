/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clock: converts CLOCK_MONOTONIC, which BPF programs use, to time since 1970. Linux slews both
 * clocks alike, so their difference changes only when somebody sets the clock. The clocks are read
 * every 100 ms, CLOCK_MONOTONIC_RAW too, so that others can undo slews (wire/clock_readings.h).
 */
#ifndef AGENT_CLOCK_H
#define AGENT_CLOCK_H

#include <stdint.h>

#include "common/monotonic.h"
#include "wire/clock_readings.h"

#define CLOCK_INTERVAL_NS 100000000LL
/* Smaller changes of the difference are measuring errors, or do not matter. */
#define CLOCK_SAME_NS 1000

struct clock_offset {
	uint64_t realtime_minus_monotonic_ns; /* modulo 2^64, like the stamps */
	uint64_t measured_ns;		      /* CLOCK_MONOTONIC; 0: not measured yet */
	uint64_t last_ns;		      /* last returned stamp */
	struct clock_reading reading;	      /* the last one; monotonic_ns 0: the kernel has no
					       * CLOCK_MONOTONIC_RAW (Linux before 2.6.28) */
	uint32_t took_ns; /* duration of the reading: its error is at most half of it */
};

/* Reads the clocks if the last reading is 100 ms old. */
void clock_measure(struct clock_offset *c, uint64_t now_ns);
/* Returns the time since 1970 of a CLOCK_MONOTONIC stamp. Results never decrease, unless the
 * system's clock was set back. The second function does the same for stamps since 1970. */
uint64_t clock_forward(struct clock_offset *c, uint64_t realtime_ns);
uint64_t clock_realtime(struct clock_offset *c, uint64_t monotonic_ns);

#define CLOCK_STEP_NS 10000000ULL

#endif
