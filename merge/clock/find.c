// SPDX-License-Identifier: GPL-2.0
/* Find: see find.h. */
#include "find.h"

#include <stdlib.h>
#include <string.h>

#define STALE_NS 5000000000LL
#define STEP_LEAST 3
#define STEP_LEAST_OF_ONE 6
#define STEP_SD_NS 300e3

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t median(const int64_t *of, unsigned int n)
{
	int64_t sorted[SAMPLES];

	memcpy(sorted, of, n * sizeof(*of));
	qsort(sorted, n, sizeof(*sorted), by_value);
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
	if (s->count && s->part == part && llabs(own_ns - s->last_ns) < JOIN_APART_NS)
		return;
	if (s->part != part || llabs(own_ns - s->last_ns) > STALE_NS)
		s->count = 0;
	s->part = part;
	s->last_ns = own_ns;
	s->ns[s->count++ % SAMPLES] = ns;
}

bool samples_agree(const struct samples *s, int64_t *ns)
{
	unsigned int n = s->count < SAMPLES ? s->count : SAMPLES, agree;

	if (n < JOIN_LEAST)
		return false;
	*ns = median(s->ns, n);
	agree = near(s->ns, n, *ns);
	return agree >= JOIN_LEAST && agree * 10 >= n * 6;
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
	for (uint64_t n = step_place(d); n < d->queue.tail; n++)
		queue_at(&d->queue, n)->own_ns += step_ns;
	d->stepped_ns += step_ns;
	d->newest_ns += step_ns;
	d->clock.p00 += STEP_SD_NS * STEP_SD_NS;
	d->clock.generation++;
	d->good = d->queue.tail - 1;
	d->suspects.count = 0;
	d->steps++;
}
