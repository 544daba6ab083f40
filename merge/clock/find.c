// SPDX-License-Identifier: GPL-2.0
/* Find: see find.h. */
#include "find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sort.h"

#define STALE_NS 30000000000LL
#define FRESH_NS 5000000000LL /* so long, clocks do not drift apart by much */
#define SLOPE_APART_NS 1000000000LL
#define SLOPE_MOST 200e-6 /* rate of a clock against another one, at most */
#define STEP_LEAST 3
#define STEP_LEAST_OF_ONE 6
#define STEP_SD_NS 300e3

static int64_t median(const int64_t *of, unsigned int n)
{
	int64_t sorted[SAMPLES];

	memcpy(sorted, of, n * sizeof(*of));
	sort_ns(sorted, n);
	return sorted[n / 2];
}

static unsigned int near(const int64_t *of, unsigned int n, int64_t to)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++)
		found += llabs(of[i] - to) <= JOIN_NEAR_NS;
	return found;
}

void samples_add(struct samples *s, int64_t ns, int64_t own_ns, uint32_t part)
{
	unsigned int i;

	if (s->count && s->part == part && llabs(own_ns - s->last_ns) < JOIN_APART_NS)
		return;
	if (s->part != part || llabs(own_ns - s->last_ns) > STALE_NS)
		s->count = 0;
	s->part = part;
	s->last_ns = own_ns;
	i = s->count++ % SAMPLES;
	s->ns[i] = ns;
	s->own_ns[i] = own_ns;
}

static bool agree(const int64_t *of, unsigned int n, int64_t *ns)
{
	unsigned int found;

	if (n < JOIN_LEAST)
		return false;
	*ns = median(of, n);
	found = near(of, n, *ns);
	return found >= JOIN_LEAST && found * 10 >= n * 6;
}

static int by_slope(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of the slopes of all pairs that a clock may have. Returns false if there are few. */
static bool slope_of(const struct samples *s, unsigned int n, double *slope)
{
	double of[SAMPLES * (SAMPLES - 1) / 2];
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < i; k++) {
			double since = s->own_ns[i] - s->own_ns[k];
			double one = (s->ns[i] - s->ns[k]) / since;

			if (fabs(since) >= SLOPE_APART_NS && fabs(one) <= SLOPE_MOST)
				of[found++] = one;
		}
	if (found < JOIN_LEAST)
		return false;
	qsort(of, found, sizeof(*of), by_slope);
	*slope = of[found / 2];
	return true;
}

bool samples_agree(const struct samples *s, int64_t *ns, double *rate)
{
	unsigned int n = s->count < SAMPLES ? s->count : SAMPLES, fresh = 0;
	int64_t of[SAMPLES];

	*rate = 0;
	for (unsigned int i = 0; i < n; i++)
		if (llabs(s->own_ns[i] - s->last_ns) <= FRESH_NS)
			of[fresh++] = s->ns[i];
	if (agree(of, fresh, ns))
		return true;
	if (fresh == n || !slope_of(s, n, rate))
		return false;
	for (unsigned int i = 0; i < n; i++)
		of[i] = s->ns[i] + llrint(*rate * (double)(s->last_ns - s->own_ns[i]));
	return agree(of, n, ns);
}

void course_add(struct course *s, const struct clock *c, const struct mark *m)
{
	if (s->generation != c->generation)
		s->count = 0;
	s->generation = c->generation;
	if (s->count && llabs(m->own_ns - s->of[(s->count - 1) % MARKS].own_ns) < STEP_APART_NS)
		return;
	s->of[s->count++ % MARKS] = *m;
}

static unsigned int marks(const struct course *s, const struct clock *c)
{
	if (s->generation != c->generation)
		return 0;
	return s->count < MARKS ? s->count : MARKS;
}

bool course_fits(const struct course *s, const struct clock *c, const struct mark *m)
{
	for (unsigned int i = 0; i < marks(s, c); i++) {
		double since = m->own_ns - s->of[i].own_ns;
		double moved = m->distance_ns - s->of[i].distance_ns - (c->rate + c->steer) * since;

		if (fabs(moved) < STEP_NS + SLEW_RATE * fabs(since))
			return true;
	}
	return false;
}

int64_t course_off(const struct course *s, const struct clock *c)
{
	int64_t off[MARKS], m;
	unsigned int n = marks(s, c);

	for (unsigned int i = 0; i < n; i++)
		off[i] = s->of[i].own_ns + s->of[i].distance_ns - clock_unified(c, s->of[i].own_ns);
	m = n ? median(off, n) : 0;
	return llabs(m) > STEP_NS / 2 ? m : 0;
}

bool suspects_add(struct suspects *s, int64_t ns, uint32_t other, int64_t own_ns, uint64_t number)
{
	unsigned int i = s->count % SUSPECTS;

	if (s->count && llabs(own_ns - s->last_ns) < STEP_APART_NS)
		return false;
	if (!s->count) {
		s->first = number;
		s->first_ns = own_ns;
	}
	s->ns[i] = ns;
	s->others[i] = other;
	s->last_ns = own_ns;
	s->count++;
	return true;
}

bool suspects_agree(const struct suspects *s, int64_t *ns)
{
	unsigned int n = s->count < SUSPECTS ? s->count : SUSPECTS, agree = 0;
	bool several = false;
	uint32_t first = 0;

	if (n < STEP_LEAST || s->last_ns - s->first_ns < s->least_ns)
		return false;
	*ns = median(s->ns, n);
	for (unsigned int i = 0; i < n; i++) {
		if (llabs(s->ns[i] - *ns) > JOIN_NEAR_NS)
			continue;
		if (agree++ && s->others[i] != first)
			several = true;
		else if (agree == 1)
			first = s->others[i];
	}
	return agree >= (several ? STEP_LEAST : STEP_LEAST_OF_ONE);
}

static uint64_t step_place(const struct domain *d)
{
	uint64_t from = d->good < d->queue.head ? d->queue.head : d->good;
	uint64_t best = d->suspects.first;
	int64_t gap = INT64_MIN;

	for (uint64_t n = from + 1; n <= d->suspects.first && n < d->queue.tail; n++) {
		int64_t more = queue_at(&d->queue, n)->own_ns - queue_at(&d->queue, n - 1)->own_ns;

		if (more < 0)
			return n;
		if (more > gap) {
			gap = more;
			best = n;
		}
	}
	return best < d->queue.head ? d->queue.head : best;
}

void domain_step(struct domain *d, int64_t step_ns)
{
	uint64_t place = step_place(d);

	for (uint64_t n = place; n < d->queue.tail; n++)
		queue_at(&d->queue, n)->own_ns += step_ns;
	d->stepped_ns += step_ns;
	d->newest_ns += step_ns;
	clock_doubt(&d->clock, queue_at(&d->queue, place)->own_ns, STEP_SD_NS);
	if (d->course.generation == d->clock.generation)
		d->course.generation++;
	d->clock.generation++;
	d->good = d->queue.tail - 1;
	d->suspects.count = 0;
	d->steps++;
}
