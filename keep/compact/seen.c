// SPDX-License-Identifier: GPL-2.0
/* Seen: see seen.h. */
#include "seen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct seen_path *find(const struct seen *s, const char *path)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (!strcmp(s->list[i].path, path))
			return &s->list[i];
	return NULL;
}

bool seen_has(const struct seen *s, const char *path, const struct timespec *changed)
{
	const struct seen_path *p = find(s, path);

	return p && p->changed.tv_sec == changed->tv_sec && p->changed.tv_nsec == changed->tv_nsec;
}

int seen_note(struct seen *s, const char *path, const struct timespec *changed)
{
	struct seen_path *p = find(s, path);

	if (p) {
		p->changed = *changed;
		return 0;
	}
	if (s->count == s->room) {
		unsigned int room = 2 * s->room + 16;
		struct seen_path *longer = realloc(s->list, room * sizeof(*longer));

		if (!longer)
			return -ENOMEM;
		s->list = longer;
		s->room = room;
	}
	p = &s->list[s->count];
	p->changed = *changed;
	p->path = strdup(path);
	s->count += p->path != NULL;
	return p->path ? 0 : -ENOMEM;
}

void seen_free(struct seen *s)
{
	for (unsigned int i = 0; i < s->count; i++)
		free(s->list[i].path);
	free(s->list);
	*s = (struct seen){ .list = NULL };
}
