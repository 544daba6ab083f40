/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ring estimate: logs once, a second after the start, how many frames the ring holds, and for how
 * long at the current rate, to help with -B.
 */
#ifndef AGENT_CONTROL_RING_ESTIMATE_H
#define AGENT_CONTROL_RING_ESTIMATE_H

#include <stdbool.h>

#include "agent/source/source.h"
#include "wire/totals.h"

struct ring_estimate {
	bool told;
	uint64_t since_ns; /* CLOCK_MONOTONIC of the start, 0: not started */
	struct totals at;  /* totals at the start */
};

/* Call it for new totals. */
void ring_estimate_tell(struct ring_estimate *r, const struct source *s, const struct totals *t,
			uint32_t snaplen);

#endif
