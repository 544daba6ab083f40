// SPDX-License-Identifier: GPL-2.0
/* Spread: see stats_spread.h. The first bucket is for less than 8 ns; each octave above has four.
 */
#include "stats_spread.h"

#define FIRST_BITS 3
#define PARTS 4

static unsigned int bucket(uint64_t size)
{
	unsigned int octave, n;

	if (size < 1u << FIRST_BITS)
		return 0;
	octave = 63 - __builtin_clzll(size);
	n = 1 + (octave - FIRST_BITS) * PARTS + (size >> (octave - 2) & (PARTS - 1));
	return n < SPREAD_SIDE ? n : SPREAD_SIDE - 1;
}

static double begin_of(unsigned int n)
{
	unsigned int octave = (n - 1) / PARTS + FIRST_BITS;

	return n ? (double)((uint64_t)(PARTS + (n - 1) % PARTS) << octave) / PARTS : 0;
}

/* A bucket's place, `share` (0 to 1) behind its begin. */
static double within(unsigned int n, double share)
{
	return begin_of(n) + share * (begin_of(n + 1) - begin_of(n));
}

void spread_add(struct spread *s, int64_t ns)
{
	uint32_t *side = ns < 0 ? s->below : s->above;

	side[bucket(ns < 0 ? -(uint64_t)ns : (uint64_t)ns)]++;
	s->total++;
}

double spread_quantile(const struct spread *s, double share)
{
	double left = share * s->total;

	for (int n = SPREAD_SIDE - 1; n >= 0; left -= s->below[n--])
		if (s->below[n] && left <= s->below[n])
			return -within(n, 1 - left / s->below[n]);
	for (int n = 0; n < SPREAD_SIDE; left -= s->above[n++])
		if (s->above[n] && left <= s->above[n])
			return within(n, left / s->above[n]);
	return s->total ? within(SPREAD_SIDE - 1, 1) : 0;
}

double spread_size_quantile(const struct spread *s, double share)
{
	double left = share * s->total;

	for (int n = 0; n < SPREAD_SIDE; n++) {
		uint64_t both = (uint64_t)s->below[n] + s->above[n];

		if (both && left <= both)
			return within(n, left / both);
		left -= both;
	}
	return s->total ? within(SPREAD_SIDE - 1, 1) : 0;
}
