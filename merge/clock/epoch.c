// SPDX-License-Identifier: GPL-2.0
/* Epoch: see epoch.h. */
#include "epoch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int epoch_room(struct level *l, const struct clocks *c, uint32_t members)
{
	if (l->member_count + members > l->member_room) {
		uint32_t n = 2 * l->member_room + members + 1024;
		void *p = realloc(l->members, n * sizeof(*l->members));

		if (!p)
			return -ENOMEM;
		l->members = p;
		l->member_room = n;
	}
	if (l->group_count == l->group_room) {
		uint32_t n = 2 * l->group_room + 256;
		void *p = realloc(l->groups, n * sizeof(*l->groups));

		if (!p)
			return -ENOMEM;
		l->groups = p;
		l->group_room = n;
	}
	if (c->count > l->domain_room) {
		void *p = realloc(l->slots, c->room * sizeof(*l->slots));

		if (!p)
			return -ENOMEM;
		l->slots = p;
		memset(l->slots + l->domain_room, 0,
		       (c->room - l->domain_room) * sizeof(*l->slots));
		l->domain_room = c->room;
	}
	return 0;
}

static int slot_of(struct level *l, uint32_t domain, uint32_t *slot)
{
	if (!l->slots[domain]) {
		if (l->slot_count == l->slot_room) {
			uint32_t n = 2 * l->slot_room + 64;
			void *p = realloc(l->domains, n * sizeof(*l->domains));

			if (!p)
				return -ENOMEM;
			l->domains = p;
			free(l->vectors);
			l->vectors = malloc(LEVEL_VECTORS * (size_t)n * sizeof(*l->vectors));
			l->slot_room = l->vectors ? n : 0;
			if (!l->vectors)
				return -ENOMEM;
		}
		l->domains[l->slot_count++] = domain;
		l->slots[domain] = l->slot_count;
	}
	*slot = l->slots[domain] - 1;
	return 0;
}

int epoch_add(struct level *l, const struct level_group *g)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < g->count; i++) {
		struct level_member *m = &l->members[g->first + i];

		err = slot_of(l, m->domain, &m->slot);
	}
	if (err)
		return err;
	l->member_count += g->count;
	l->groups[l->group_count++] = *g;
	return 0;
}

void epoch_drop(struct level *l, uint32_t domain)
{
	for (uint32_t n = 0; n < l->group_count; n++) {
		struct level_group *g = &l->groups[n];
		struct level_member *m = &l->members[g->first];

		for (uint32_t i = 0; i < g->count; i++) {
			if (m[i].domain != domain)
				continue;
			g->weight -= m[i].weight;
			m[i] = m[--g->count];
			break;
		}
		if (g->count < 2)
			g->count = 0;
	}
}

void epoch_clear(struct level *l)
{
	for (uint32_t i = 0; i < l->slot_count; i++)
		l->slots[l->domains[i]] = 0;
	l->slot_count = l->member_count = l->group_count = 0;
}

void epoch_free(struct level *l)
{
	free(l->members);
	free(l->groups);
	free(l->domains);
	free(l->vectors);
	free(l->slots);
	memset(l, 0, sizeof(*l));
}
