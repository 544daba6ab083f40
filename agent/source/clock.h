/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two clocks: BPF stamps frames with CLOCK_MONOTONIC, files hold time since 1970. The distance
 * is measured once a second, so that a clock being slewed is followed (500 ppm at most, so the
 * stamps are right to within half a millisecond).
 */
#ifndef AGENT_CLOCK_H
#define AGENT_CLOCK_H

#include <stdint.h>

#include "common/monotonic.h"

struct clock_offset {
	uint64_t realtime_minus_monotonic_ns; /* wraps like the stamps do */
	uint64_t measured_ns;		      /* CLOCK_MONOTONIC */
	uint64_t last_ns;		      /* last stamp given out */
};

/* Measures the offset if the last measurement is a second old. */
void clock_measure(struct clock_offset *c, uint64_t now_ns);
/* Returns the time since 1970 of a CLOCK_MONOTONIC stamp. Stamps do not go back, unless the
 * system's clock was set back by more than CLOCK_STEP_NS; nor do those that are since 1970
 * already. */
uint64_t clock_forward(struct clock_offset *c, uint64_t realtime_ns);
uint64_t clock_realtime(struct clock_offset *c, uint64_t monotonic_ns);

#define CLOCK_STEP_NS 10000000ULL

#endif
