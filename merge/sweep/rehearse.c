// SPDX-License-Identifier: GPL-2.0
/* Rehearse: see rehearse.h. */
#include "rehearse.h"

#include "merge/clock/anchor.h"
#include "merge/clock/parts.h"
#include "sweep.h"

#define LEAST_NS 2000000000LL

/* The clocks begin again where they are found to be. */
static void doubt_all(struct merge *m)
{
	for (unsigned int i = 0; i < m->clocks.count; i++) {
		struct domain *d = m->clocks.list[i];

		if (d->clock.known)
			clock_set(&d->clock, d->first_ns,
				  clock_unified(&d->clock, d->first_ns) - d->first_ns, JOIN_SD_NS,
				  JOIN_SD_RATE);
	}
}

/* How much of the start is rehearsed: all radios have come so far. 0: not enough of it is here.
 * Parts that share little may meet later: files are waited for. */
static int64_t enough(const struct merge *m)
{
	int64_t have = sweep_bound(m, false) - m->first_ns;
	bool full = clocks_queued(&m->clocks) > CLOCKS_QUEUED_MOST;

	if (have > m->rehearsed_ns &&
	    (have > m->clocks.sparse_ns || full || !parts_are_several(&m->clocks)))
		return m->rehearsed_ns;
	return have > LEAST_NS && full ? LEAST_NS : 0;
}

static int begin(struct merge *m)
{
	int err;

	anchor_set(&m->clocks, 0);
	m->anchored = m->clocks.part.count;
	err = sweep_renew(m);
	m->first_ns = earliest(&m->earliest) ? earliest(&m->earliest)->heap_ns : 0;
	m->rehearses = true;
	return err;
}

/* Rehearses so much of the start once more. The order in which clocks were found then has no
 * influence. */
static int again(struct merge *m, int64_t lasts_ns)
{
	int64_t limit = lasts_ns;
	int err;

	m->earliest.known = false;
	m->rehearsed = true;
	anchor_set(&m->clocks, m->anchored);
	doubt_all(m);
	err = sweep_again(m);
	if (lasts_ns != INT64_MAX)
		limit = earliest(&m->earliest)->heap_ns + lasts_ns;
	err = err ?: sweep_to(m, limit, true);
	return err ?: sweep_again(m);
}

int rehearse(struct merge *m)
{
	const struct domain *first = earliest(&m->earliest);
	int64_t lasts_ns;
	int err = 0;

	if (!m->rehearses) {
		if (!first || sweep_bound(m, true) - first->heap_ns <= LEAST_NS)
			return 0;
		err = begin(m);
	}
	err = err ?: sweep_to(m, sweep_bound(m, true), true);
	lasts_ns = enough(m);
	return err || !lasts_ns ? err : again(m, lasts_ns);
}

int rehearse_finish(struct merge *m)
{
	int err = m->rehearses ? 0 : begin(m);

	err = err ?: sweep_to(m, INT64_MAX, true);
	return err ?: again(m, INT64_MAX);
}
