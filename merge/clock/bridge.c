// SPDX-License-Identifier: GPL-2.0
/* Bridge: see bridge.h. */
#include "bridge.h"

#include <math.h>

#include "sort.h"

/* A normal distribution has its quartile at so many sigmas. The quartile's error, times the root of
 * the number, is so many sigmas. */
#define QUARTILE_SD 0.6745
#define QUARTILE_ERROR 1.36
#define FLOOR (500.0 * 500.0)
#define SLOPE_VARIANCE (3e-6 * 3e-6)
#define SLOPE_FIRST_VARIANCE (50e-6 * 50e-6)
#define SLOPES 16 /* of which the slope is the mean */
#define APART_NS 50000000LL
#define STALE_NS 5000000000LL
#define STRANGE_SIGMAS 5
#define STRANGE 4 /* in a row: the sensor's clock has changed */

bool bridge_ahead(const struct bridge *b, int64_t at_ns, int64_t *ahead_ns, double *variance)
{
	unsigned int n = b->count < BRIDGE_NOTES ? b->count : BRIDGE_NOTES;
	int64_t sorted[BRIDGE_NOTES];
	int64_t spread;
	double sd, squares = 0;

	if (n < BRIDGE_LEAST)
		return false;
	for (unsigned int i = 0; i < n; i++) {
		double since = at_ns - b->of[i].at_ns;

		sorted[i] = b->of[i].ahead_ns + llrint(b->slope * since);
		squares += since * since;
	}
	sort_ns(sorted, n);
	*ahead_ns = sorted[n / 4];
	spread = sorted[n / 2] - sorted[n / 4];
	sd = spread / QUARTILE_SD * QUARTILE_ERROR;
	*variance = sd * sd / n + FLOOR +
		    squares / n * (b->slopes > 1 ? SLOPE_VARIANCE : SLOPE_FIRST_VARIANCE);
	return true;
}

void bridge_follow(struct bridge *b, int64_t at_ns, int64_t ahead_ns, double variance)
{
	double since = at_ns - b->last_ns;
	double off = ahead_ns - b->last_ahead_ns - b->slope * since;

	if (b->slopes && fabs(since) < APART_NS)
		return;
	if (fabs(since) > STALE_NS)
		b->slopes = 0;
	if (b->slopes > 2 && fabs(off) > STRANGE_SIGMAS * sqrt(2 * variance)) {
		if (++b->strange < STRANGE)
			return;
		b->slopes = 0;
	}
	if (b->slopes)
		b->slope += off / since / (b->slopes < SLOPES ? b->slopes : SLOPES);
	b->slopes++;
	b->strange = 0;
	b->last_ns = at_ns;
	b->last_ahead_ns = ahead_ns;
}
