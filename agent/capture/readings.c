// SPDX-License-Identifier: GPL-2.0
/* Readings: see readings.h. */
#include "readings.h"

/* Rates are computed from numbers of so many bits, so that products fit into 64 bits. */
#define RATE_BITS 28

static void tell(struct readings *r, const struct clock_reading *now, struct clock_readings *out)
{
	out->list[out->count++] = *now;
	r->told[1] = r->told[0];
	r->told[0] = *now;
}

/* Returns how much CLOCK_MONOTONIC_RAW - CLOCK_MONOTONIC changes in the `ahead_ns` after the last
 * chosen reading, extrapolated from the last two. A rate above 1 is none. */
static int64_t extrapolated(const struct readings *r, int64_t ahead_ns)
{
	const struct clock_reading *a = &r->told[1], *b = &r->told[0];
	int64_t rise = clock_difference(b->raw_minus_monotonic_ns, a->raw_minus_monotonic_ns);
	int64_t span = b->monotonic_ns - a->monotonic_ns;

	if (!a->monotonic_ns || span <= 0 || rise > span || rise < -span)
		return 0;
	for (; span >> RATE_BITS; span /= 2)
		rise /= 2;
	return rise * ahead_ns / span;
}

/* Whether the chosen readings do not tell this one. */
static bool is_news(const struct readings *r, const struct clock_reading *now, uint32_t took_ns)
{
	uint64_t ahead = now->monotonic_ns - r->told[0].monotonic_ns;
	int64_t most = READINGS_ERROR_NS + (int64_t)took_ns, error;

	if (ahead > READINGS_FAR_NS)
		return true;
	error = clock_difference(clock_difference(now->raw_minus_monotonic_ns,
						  r->told[0].raw_minus_monotonic_ns),
				 extrapolated(r, ahead));
	return error > most || error < -most;
}

static bool was_set(const struct readings *r, const struct clock_reading *now)
{
	return now->realtime_minus_monotonic_ns != r->told[0].realtime_minus_monotonic_ns;
}

static bool is_due(const struct readings *r, const struct clock_reading *now)
{
	return now->monotonic_ns - r->told[0].monotonic_ns >= READINGS_EACH_NS;
}

void readings_look(struct readings *r, const struct clock_offset *c)
{
	if (c->reading.monotonic_ns == r->last[0].monotonic_ns)
		return;
	r->last[1] = r->last[0];
	r->last[0] = c->reading;
}

void readings_choose(struct readings *r, const struct clock_offset *c, struct clock_readings *out)
{
	const struct clock_reading *now = &r->last[0], *before = &r->last[1];
	bool first = !r->told[0].monotonic_ns, news;

	out->count = 0;
	readings_look(r, c);
	r->chosen_ns = c->measured_ns;
	if (!now->monotonic_ns || now->monotonic_ns == r->told[0].monotonic_ns)
		return;
	news = !first && is_news(r, now, c->took_ns);
	if (news && before->monotonic_ns > r->told[0].monotonic_ns)
		tell(r, before, out);
	if (first || news || was_set(r, now) || is_due(r, now))
		tell(r, now, out);
}
