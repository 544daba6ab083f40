// SPDX-License-Identifier: GPL-2.0
/* Known: see known.h. */
#include "known.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct known_stem {
	char *name;
	uint64_t bytes[FORMS];
	int64_t time_ns;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct known_stem *)a)->name, ((const struct known_stem *)b)->name);
}

static struct known_stem *find(const struct known *k, const char *name)
{
	const struct known_stem key = { .name = (char *)name };
	struct known_stem **node = tfind(&key, &k->tree, compare);

	return node ? *node : NULL;
}

static void stem_free(void *stem)
{
	free(((struct known_stem *)stem)->name);
	free(stem);
}

static struct known_stem *add(struct known *k, const char *name)
{
	struct known_stem *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->name = strdup(name);
	if (n->name && tsearch(n, &k->tree, compare))
		return n;
	stem_free(n);
	return NULL;
}

void known_note(struct known *k, const struct stem *s)
{
	struct known_stem *n = find(k, s->name) ?: add(k, s->name);

	if (!n)
		return;
	memcpy(n->bytes, s->bytes, sizeof(n->bytes));
	n->time_ns = s->time_ns;
}

bool known_has(const struct known *k, const struct stem *s)
{
	const struct known_stem *n = find(k, s->name);

	return n && n->time_ns == s->time_ns && !memcmp(n->bytes, s->bytes, sizeof(n->bytes));
}

void known_forget(struct known *k, const struct stem *s)
{
	struct known_stem *n = find(k, s->name);

	if (!n)
		return;
	tdelete(n, &k->tree, compare);
	stem_free(n);
}

void known_free(struct known *k)
{
	tdestroy(k->tree, stem_free);
	k->tree = NULL;
}
