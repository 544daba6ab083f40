// SPDX-License-Identifier: GPL-2.0
/* Clock: see clock.h. */
#include "clock.h"

#include <math.h>

#define SECOND_NS 1e9
/* The rate's random walk: 0.03 ppm a second, as variance per ns. A radio's oscillator, which nobody
 * corrects, walks less. */
#define WALK (0.03e-6 * 0.03e-6 / SECOND_NS)
#define WALK_FREE (0.018e-6 * 0.018e-6 / SECOND_NS)
#define JITTER_FIRST (10e3 * 10e3)
#define JITTER_LEAST (150.0 * 150.0)
#define EXCESSES 64 /* corrections */
#define EXCESSES_FIRST 63
#define EXCESS_LEAST 0.005
#define EXCESS_MOST 9
#define JITTER_SHARE 0.01

void clock_set(struct clock *c, int64_t own_ns, int64_t distance_ns, double sd_ns, double sd_rate)
{
	*c = (struct clock){
		.known = true,
		.free = c->free,
		.generation = c->generation + 1,
		.at_ns = own_ns,
		.base_ns = distance_ns,
		.rate = c->rate,
		.steer = c->steer,
		.p00 = sd_ns * sd_ns,
		.p11 = sd_rate * sd_rate,
		.excess = c->excess > 0 ? c->excess : 1,
		.excesses = c->excesses ?: EXCESSES_FIRST,
		.jitter = c->jitter > 0 ? c->jitter : JITTER_FIRST,
	};
}

void clock_shift(struct clock *c, int64_t ns)
{
	c->base_ns += ns;
}

int64_t clock_unified(const struct clock *c, int64_t own_ns)
{
	double since = own_ns - c->at_ns;

	return own_ns + c->base_ns + (int64_t)llrint(c->off_ns + (c->rate + c->steer) * since);
}

static double variance_at(const struct clock *c, int64_t own_ns)
{
	double t = own_ns - c->at_ns, walked = fabs(t), walk = c->free ? WALK_FREE : WALK;

	return c->p00 + 2 * t * c->p01 + t * t * c->p11 + walk * walked * walked * walked / 3 +
	       (own_ns >= c->doubt_ns ? c->doubt : 0);
}

double clock_variance(const struct clock *c, int64_t own_ns)
{
	return variance_at(c, own_ns) * (c->free ? 1 : c->excess);
}

void clock_predict(struct clock *c, int64_t own_ns)
{
	double t = own_ns - c->at_ns, walked = fabs(t), whole, walk = c->free ? WALK_FREE : WALK;

	c->p00 = variance_at(c, own_ns);
	if (own_ns >= c->doubt_ns)
		c->doubt = 0;
	c->p01 += t * c->p11 + walk * walked * t / 2;
	c->p11 += walk * walked;
	c->off_ns += (c->rate + c->steer) * t;
	c->at_ns = own_ns;
	whole = floor(c->off_ns); /* stays small, so that it is exact */
	c->base_ns += (int64_t)whole;
	c->off_ns -= whole;
}

int64_t clock_own(const struct clock *c, int64_t unified_ns)
{
	/* Rates are some ppm, so that this is exact to 0.1 ns a second. */
	return c->at_ns + (unified_ns - clock_unified(c, c->at_ns));
}

void clock_own_shifted(struct clock *c, int64_t ns)
{
	c->at_ns += ns;
	c->base_ns -= ns;
	c->doubt_ns += ns;
	c->generation++;
}

void clock_doubt(struct clock *c, int64_t own_ns, double sd_ns)
{
	c->doubt_ns = own_ns;
	c->doubt += sd_ns * sd_ns;
}

/* A measurement's variance is an estimate. Sensors that few others hear have an error of their
 * corrections in common: they are less sure than the filter, whose gain is better as it is. Stamps
 * of a TSFT are better than the least jitter, and never late, so that the filter follows them. */
static void take_excess(struct clock *c, double square)
{
	double most = EXCESS_MOST * fmax(c->excess, 1);

	c->excesses += c->excesses < EXCESSES;
	c->excess += ((square < most ? square : most) - c->excess) / c->excesses;
	c->excess = fmax(c->excess, c->free ? EXCESS_LEAST : 1);
}

void clock_correct(struct clock *c, double error_ns, double variance)
{
	double s, k0, k1;

	take_excess(c, error_ns * error_ns / (c->p00 + variance));
	s = c->p00 + variance * (c->free ? c->excess : 1);
	k0 = c->p00 / s;
	k1 = c->p01 / s;
	c->off_ns += k0 * error_ns;
	c->rate += k1 * error_ns;
	c->p11 -= k1 * c->p01;
	c->p01 -= k0 * c->p01;
	c->p00 -= k0 * c->p00;
}

/* Differences of successive residuals: the clock's own error cancels. */
void clock_jitter(struct clock *c, double residual_ns)
{
	double d = residual_ns - c->last_residual, most = 9 * c->jitter + JITTER_FIRST;
	double square = d * d / 2 < most ? d * d / 2 : most;

	if (c->has_residual)
		c->jitter += JITTER_SHARE * (square - c->jitter);
	if (c->jitter < JITTER_LEAST)
		c->jitter = JITTER_LEAST;
	c->has_residual = true;
	c->last_residual = residual_ns;
}
