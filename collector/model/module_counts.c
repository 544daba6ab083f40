// SPDX-License-Identifier: GPL-2.0
/* Module counts: see module_counts.h. */
#include "module_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds or adds a module. Returns NULL if it is new and there is no room. */
static struct module_count *find(struct module_counts *c, const char *name)
{
	for (unsigned int i = 0; i < c->count; i++)
		if (!strcmp(c->of[i].name, name))
			return &c->of[i];
	if (c->count == MODULE_COUNTS_MAX)
		return NULL;
	snprintf(c->of[c->count].name, sizeof(c->of[0].name), "%s", name);
	return &c->of[c->count++];
}

void module_counts_add(struct module_counts **c, const char *name, uint64_t now_ns)
{
	struct module_count *m;

	*c = *c ?: calloc(1, sizeof(**c));
	if (!*c)
		return;
	m = find(*c, name);
	if (!m) {
		(*c)->others++;
		return;
	}
	m->events++;
	m->last_ns = now_ns;
}
