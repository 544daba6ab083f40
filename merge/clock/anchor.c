// SPDX-License-Identifier: GPL-2.0
/* Anchor: see anchor.h. */
#include "anchor.h"

#include <math.h>

#include "parts.h"
#include "sort.h"

#define SLOW_NS 30e9 /* a distance is taken away in this time */
#define MOST 100e-6  /* rate */
#define SMOOTH 64    /* epochs, in which the rate changes */
#define FIRST_SD_RATE 10e-6
#define MEMBERS_MAX 4096 /* that are asked */

static int64_t median(int64_t *of, unsigned int n)
{
	sort_ns(of, n);
	return n ? of[n / 2] : 0;
}

/* The median of what the part's domains say, and its variance: a measurement is wrong by up to half
 * of its round trip. Variance 0: nobody says anything. Each measurement counts once. */
static int64_t distance_of(const struct part *part, double *variance)
{
	double squares = 0;
	int64_t said[MEMBERS_MAX];
	unsigned int n = 0;

	for (struct domain *d = part->first; d && n < MEMBERS_MAX; d = d->member) {
		if (!d->anchored || d->ended)
			continue;
		d->anchored = false;
		said[n++] = d->anchor_ns + d->coarse_ns - clock_unified(&d->clock, d->anchor_ns);
		squares += d->anchor_sd * d->anchor_sd;
	}
	*variance = n ? squares / n / n : 0;
	return median(said, n);
}

/* The same, if nobody says anything: each domain's stamps are as good as another's. */
static int64_t distance_of_stamps(const struct part *part)
{
	int64_t said[MEMBERS_MAX];
	unsigned int n = 0;

	for (const struct domain *d = part->first; d && n < MEMBERS_MAX; d = d->member)
		said[n++] = d->first_ns + d->coarse_ns - clock_unified(&d->clock, d->first_ns);
	return median(said, n);
}

/* The newest time that two sensors have come to: one alone may have a wrong stamp. */
static int64_t newest(const struct clocks *c)
{
	int64_t most = INT64_MIN / 2, second = most; /* differences to it do not overflow */
	uint32_t sensor = UINT32_MAX;

	for (unsigned int i = 0; i < c->count; i++) {
		const struct domain *d = c->list[i];
		int64_t at = clock_unified(&d->clock, d->newest_ns);

		if (!d->arrived || !d->clock.known)
			continue;
		if (at > most) {
			second = d->sensor == sensor ? second : most;
			most = at;
			sensor = d->sensor;
		} else if (d->sensor != sensor && at > second) {
			second = at;
		}
	}
	return second > INT64_MIN / 2 ? second : most;
}

void anchor_set(struct clocks *c, uint32_t from)
{
	if (parts_gather(c)) {
		for (uint32_t i = 0; i < c->part.count; i++) {
			struct part *part = &c->part.of[i];
			double variance;

			part->shift_ns = i < from ? 0 : distance_of(part, &variance);
			if (i >= from && variance == 0)
				part->shift_ns = distance_of_stamps(part);
		}
		parts_shift(c);
	}
	c->now_ns = newest(c);
}

/* The common clock's own time is the unified time, and what it is to be is the collector's. Its
 * `steer` is what was done about the difference. Returns the rate that the part is to have. */
static double follow(struct part *part, int64_t unified_ns)
{
	struct clock *k = &part->common;
	double rate, variance;
	int64_t distance = distance_of(part, &variance);

	if (variance > 0 && !k->known)
		clock_set(k, unified_ns, distance, sqrt(variance), FIRST_SD_RATE);
	if (!k->known)
		return 0;
	clock_predict(k, unified_ns);
	if (variance > 0)
		clock_correct(k, distance - (clock_unified(k, unified_ns) - unified_ns), variance);
	rate = k->rate + (clock_unified(k, unified_ns) - unified_ns) / SLOW_NS;
	rate = rate > MOST ? MOST : rate < -MOST ? -MOST : rate;
	k->steer -= (k->steer + rate) / SMOOTH;
	return -k->steer;
}

void anchor_steer(struct clocks *c, int64_t unified_ns)
{
	if (!parts_gather(c)) /* a later epoch has more memory */
		return;
	for (uint32_t i = 0; i < c->part.count; i++) {
		struct part *part = &c->part.of[i];
		double rate = part->first ? follow(part, unified_ns) : 0;

		for (struct domain *d = part->first; d; d = d->member) {
			struct clock *k = &d->clock;

			if (rate == 0 && k->steer == 0)
				continue;
			clock_predict(k, clock_own(k, unified_ns));
			k->steer = rate;
		}
	}
}
