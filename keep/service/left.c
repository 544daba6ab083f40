// SPDX-License-Identifier: GPL-2.0
/* Left: see left.h. */
#include "left.h"

#include <stdlib.h>
#include <string.h>

static struct left_file *find(const struct left *l, const char *name)
{
	for (unsigned int i = 0; i < l->count; i++)
		if (!strcmp(l->list[i].name, name))
			return &l->list[i];
	return NULL;
}

static struct left_file *add(struct left *l, const char *name)
{
	if (l->count == l->room) {
		unsigned int room = 2 * l->room + 16;
		struct left_file *longer = realloc(l->list, room * sizeof(*longer));

		if (!longer)
			return NULL;
		l->list = longer;
		l->room = room;
	}
	l->list[l->count].name = strdup(name);
	return l->list[l->count].name ? &l->list[l->count++] : NULL;
}

bool left_note(struct left *l, const struct stem *s)
{
	struct left_file *f = find(l, s->name) ?: add(l, s->name);

	if (f) {
		memcpy(f->bytes, s->bytes, sizeof(f->bytes));
		f->time_ns = s->time_ns;
	}
	return true;
}

bool left_has(const struct left *l, const struct stem *s)
{
	const struct left_file *f = find(l, s->name);

	return f && f->time_ns == s->time_ns && !memcmp(f->bytes, s->bytes, sizeof(f->bytes));
}

void left_free(struct left *l)
{
	for (unsigned int i = 0; i < l->count; i++)
		free(l->list[i].name);
	free(l->list);
	*l = (struct left){ .list = NULL };
}
