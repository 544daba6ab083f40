// SPDX-License-Identifier: GPL-2.0
/* Clock offset: see clock.h. */
#include "clock.h"

/* The two clocks cannot be read at once. Of several readings, the shortest is the best, as it was
 * disturbed least. */
static uint64_t clock_distance(void)
{
	uint64_t best_took = UINT64_MAX, best = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t before = monotonic_ns();
		uint64_t real = clock_ns(CLOCK_REALTIME);
		uint64_t took = monotonic_ns() - before;

		if (took < best_took) {
			best_took = took;
			best = real - before - took / 2;
		}
	}
	return best;
}

void clock_measure(struct clock_offset *c, uint64_t now_ns)
{
	if (c->measured_ns && (int64_t)(now_ns - c->measured_ns) < 1000000000LL)
		return;
	c->measured_ns = now_ns;
	c->realtime_minus_monotonic_ns = clock_distance();
}

uint64_t clock_realtime(struct clock_offset *c, uint64_t monotonic_ns)
{
	return clock_forward(c, monotonic_ns + c->realtime_minus_monotonic_ns);
}

uint64_t clock_forward(struct clock_offset *c, uint64_t t)
{
	/* Causes: a new offset, or another CPU's stamp just before its record was reserved. */
	if (t < c->last_ns && c->last_ns - t < CLOCK_STEP_NS)
		t = c->last_ns;
	c->last_ns = t;
	return t;
}
