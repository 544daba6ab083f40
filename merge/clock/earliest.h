/* SPDX-License-Identifier: GPL-2.0 */
/* Earliest: domains with receptions in their queues, by the unified time of the next one. */
#ifndef MERGE_CLOCK_EARLIEST_H
#define MERGE_CLOCK_EARLIEST_H

#include "domain.h"

struct earliest {
	struct domain **heap; /* from 1 */
	uint32_t count, room;
	bool known; /* only those whose clock is known */
};

/* Returns the domain whose next reception is the earliest, at its heap_ns, or NULL. */
static inline struct domain *earliest(const struct earliest *e)
{
	return e->count ? e->heap[1] : NULL;
}

/* The domain's next reception, or its clock, is another one. Returns 0 or -ENOMEM. */
int earliest_renew(struct earliest *e, struct domain *d);
void earliest_free(struct earliest *e);

#endif
