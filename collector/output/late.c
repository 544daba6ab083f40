// SPDX-License-Identifier: GPL-2.0
/* Late: see late.h. */
#include "late.h"

#include <string.h>

static void remove_at(struct late *l, unsigned int i)
{
	l->changed = true;
	l->count--;
	memmove(l->of + i, l->of + i + 1, (l->count - i) * sizeof(l->of[0]));
}

void late_forget(struct late *l, uint64_t run)
{
	for (unsigned int i = l->count; i-- > 0;)
		if (l->of[i].run == run)
			remove_at(l, i);
}

void late_add(struct late *l, const struct late_gap *g)
{
	if (g->from >= g->to)
		return;
	if (l->count == LATE_GAPS)
		remove_at(l, 0);
	l->changed = true;
	l->of[l->count++] = *g;
}

struct late_gap *late_find(struct late *l, const struct put_name *n)
{
	for (unsigned int i = 0; i < l->count; i++) {
		struct late_gap *g = &l->of[i];

		if (g->run == n->run && n->count >= g->from && n->count < g->to &&
		    n->first >= g->first && n->first + n->frames <= g->end)
			return g;
	}
	return NULL;
}

void late_fill(struct late *l, struct late_gap *g, const struct put_name *n)
{
	struct late_gap before = *g, behind = *g;

	before.to = n->count;
	before.end = n->first;
	behind.from = n->count + 1;
	behind.first = n->first + n->frames;
	remove_at(l, g - l->of);
	late_add(l, &before);
	late_add(l, &behind);
}
