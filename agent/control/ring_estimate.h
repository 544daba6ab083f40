/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long a ring lasts: told once, a second after the start, in frames and in time at the
 * rate of that second, so that -B need not be guessed.
 */
#ifndef AGENT_CONTROL_RING_ESTIMATE_H
#define AGENT_CONTROL_RING_ESTIMATE_H

#include <stdbool.h>

#include "agent/source/source.h"
#include "wire/totals.h"

struct ring_estimate {
	bool told;
	uint64_t since_ns; /* CLOCK_MONOTONIC, 0: not begun */
	struct totals at;  /* then */
};

/* Called whenever there are new totals. */
void ring_estimate_tell(struct ring_estimate *r, const struct source *s, const struct totals *t,
			uint32_t snaplen);

#endif
