// SPDX-License-Identifier: GPL-2.0
/* Clock offset: see clock.h. */
#include "clock.h"

#include <stdbool.h>

#define TRIES 5

/* A clock compared with CLOCK_MONOTONIC. */
struct comparison {
	uint64_t at_ns;	   /* CLOCK_MONOTONIC */
	uint64_t minus_ns; /* the clock minus CLOCK_MONOTONIC, modulo 2^64 */
	uint64_t took_ns;  /* `minus_ns` is wrong by at most half of this */
};

/* Two clocks cannot be read at once. The shortest of several readings is the best, because it was
 * disturbed least. Returns false if the kernel does not have the clock. */
static bool compare(struct comparison *best, clockid_t id)
{
	best->took_ns = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = monotonic_ns(), took;
		struct timespec t;

		if (clock_gettime(id, &t))
			return false;
		took = monotonic_ns() - before;
		if (took < best->took_ns)
			*best = (struct comparison){
				.at_ns = before + took / 2,
				.minus_ns =
					t.tv_sec * 1000000000ULL + t.tv_nsec - before - took / 2,
				.took_ns = took,
			};
	}
	return true;
}

/* The difference stays as it is as long as the comparison does not prove another one. */
static void take_realtime(struct clock_offset *c, const struct comparison *real, bool is_first)
{
	int64_t changed = real->minus_ns - c->realtime_minus_monotonic_ns;
	int64_t error = real->took_ns / 2 + CLOCK_SAME_NS;

	if (!is_first && changed <= error && changed >= -error)
		return;
	c->realtime_minus_monotonic_ns = real->minus_ns;
	c->last_ns = 0; /* the clock may have been set back */
}

void clock_measure(struct clock_offset *c, uint64_t now_ns)
{
	struct comparison real, raw;
	bool is_first = !c->measured_ns;

	if (!is_first && (int64_t)(now_ns - c->measured_ns) < CLOCK_INTERVAL_NS)
		return;
	c->measured_ns = now_ns;
	if (compare(&real, CLOCK_REALTIME))
		take_realtime(c, &real, is_first);
	if (!compare(&raw, CLOCK_MONOTONIC_RAW))
		return;
	c->reading = (struct clock_reading){
		.monotonic_ns = raw.at_ns,
		.realtime_minus_monotonic_ns = c->realtime_minus_monotonic_ns,
		.raw_minus_monotonic_ns = raw.minus_ns,
	};
	c->took_ns = raw.took_ns;
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
