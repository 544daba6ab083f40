// SPDX-License-Identifier: GPL-2.0
/* Left: see left.h. */
#include "left.h"

#define WEAKEST INT8_MIN

/* 0: not known. */
static int8_t strength(const struct heard *h)
{
	return h->signal ? h->signal : WEAKEST;
}

struct slice_floor left_floor(const struct sensors *s, const struct transmission *t)
{
	struct slice_floor best = { .known = false };
	int8_t most = WEAKEST;

	for (const struct heard *h = t->first; h; h = h->next) {
		struct slice_floor of = s->list[s->radios[h->radio].sensor].floor;
		int8_t own = strength(h);

		if (!of.known)
			continue;
		if (!best.known || own > most || (own == most && of.floor < best.floor))
			best = of;
		if (own > most)
			most = own;
	}
	return best;
}

bool left_to_others(const struct sensors *s, const struct transmission *t)
{
	return !slice_has(s->slice, left_floor(s, t), t->mhz);
}
