/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clock: converts CLOCK_MONOTONIC, which BPF programs use, to time since 1970. The offset is
 * measured once a second, to follow a clock that is being slewed (at most 500 ppm, so stamps are
 * right to half a millisecond).
 */
#ifndef AGENT_CLOCK_H
#define AGENT_CLOCK_H

#include <stdint.h>

#include "common/monotonic.h"

struct clock_offset {
	uint64_t realtime_minus_monotonic_ns; /* modulo 2^64, like the stamps */
	uint64_t measured_ns;		      /* CLOCK_MONOTONIC */
	uint64_t last_ns;		      /* last returned stamp */
};

/* Measures the offset if the last measurement is a second old. */
void clock_measure(struct clock_offset *c, uint64_t now_ns);
/* Returns the time since 1970 of a CLOCK_MONOTONIC stamp. Results never decrease, unless the
 * system's clock was set back by more than CLOCK_STEP_NS. The second function does the same for
 * stamps since 1970. */
uint64_t clock_forward(struct clock_offset *c, uint64_t realtime_ns);
uint64_t clock_realtime(struct clock_offset *c, uint64_t monotonic_ns);

#define CLOCK_STEP_NS 10000000ULL

#endif
