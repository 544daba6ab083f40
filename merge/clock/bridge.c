// SPDX-License-Identifier: GPL-2.0
/* Bridge: see bridge.h. */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>

/* A normal distribution has its quartile at so many sigmas. The quartile's error, times the root of
 * the number, is so many sigmas. */
#define QUARTILE_SD 0.6745
#define QUARTILE_ERROR 1.36
#define FLOOR (500.0 * 500.0)

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

bool bridge_ahead(const struct bridge *b, int64_t *ahead_ns, double *variance)
{
	unsigned int n = b->count < BRIDGE_NOTES ? b->count : BRIDGE_NOTES;
	int64_t sorted[BRIDGE_NOTES], to_median;
	double sd;

	if (n < BRIDGE_LEAST)
		return false;
	memcpy(sorted, b->of, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	*ahead_ns = sorted[n / 4];
	to_median = sorted[n / 2] - *ahead_ns;
	sd = to_median / QUARTILE_SD * QUARTILE_ERROR;
	*variance = sd * sd / n + FLOOR;
	return true;
}
