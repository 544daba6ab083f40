// SPDX-License-Identifier: GPL-2.0
/* Sensors: see sensors.h. */
#include "sensors.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list -------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
	const struct sensor *const *x = a, *const *y = b;

	return (*x)->id - (*y)->id;
}

static struct sensor *find(struct sensor **sorted, unsigned int count, uint16_t id)
{
	struct sensor key = { .id = id }, *k = &key, **found;

	found = count ? bsearch(&k, sorted, count, sizeof(*sorted), by_id) : NULL;
	return found ? *found : NULL;
}

static struct sensor *sensor_new(uint16_t id, uint32_t index)
{
	struct sensor *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	keys_lock(s, sizeof(*s));
	s->id = id;
	s->index = index;
	s->current = s->candidate = s->old = -1;
	return s;
}

/* Makes the sensors that are not there yet. The rest of the list is of their number. */
static int add_new(struct sensors *s, struct sensor **sorted, const struct sensors_file *f)
{
	struct sensor **list = realloc(s->list, (s->count + f->count) * sizeof(*list));
	unsigned int had = s->count;

	if (!list)
		return -ENOMEM;
	s->list = list;
	for (unsigned int i = 0; i < f->count; i++) {
		if (find(sorted, had, f->lines[i].id))
			continue;
		list[s->count] = sensor_new(f->lines[i].id, s->count);
		if (!list[s->count]) {
			while (s->count > had)
				free(list[--s->count]);
			return -ENOMEM;
		}
		s->count++;
	}
	return 0;
}

static bool same_keys(const struct sensor *s, const struct sensors_line *l)
{
	return s->one_way == l->one_way && !memcmp(s->public, l->public, KEY_LEN) &&
	       !sodium_memcmp(s->preshared, l->preshared, KEY_LEN);
}

/* `lines`, by the sensor's index, has what the file says of it, or NULL. */
static void apply(struct sensors *s, const struct sensors_line **lines,
		  void (*changed)(void *user, struct sensor *s), void *user)
{
	for (unsigned int i = 0; i < s->count; i++) {
		struct sensor *x = s->list[i];
		const struct sensors_line *l = lines[i];

		if (l && strcmp(x->name, l->name)) {
			strcpy(x->name, l->name);
			x->interfaces.section = 0; /* blocks have the name in them */
		}
		x->group = l ? l->group : 0;
		if (l && memcmp(&x->linktypes, &l->linktypes, sizeof(l->linktypes))) {
			x->linktypes = l->linktypes;
			x->refused_told = 0;
		}
		if (!l && !x->listed)
			continue;
		if (l && x->listed && same_keys(x, l))
			continue;
		x->listed = l != NULL;
		x->one_way = l && l->one_way;
		memset(x->preshared, 0, KEY_LEN);
		if (l) {
			memcpy(x->public, l->public, KEY_LEN);
			memcpy(x->preshared, l->preshared, KEY_LEN);
		}
		changed(user, x);
	}
}

int sensors_apply(struct sensors *s, const struct sensors_file *f,
		  void (*changed)(void *user, struct sensor *s), void *user)
{
	unsigned int most = s->count + f->count;
	struct sensor **sorted = calloc(most + 1, sizeof(*sorted));
	const struct sensors_line **lines = calloc(most + 1, sizeof(*lines));
	int err = sorted && lines ? 0 : -ENOMEM;

	if (!err) {
		if (s->count)
			memcpy(sorted, s->list, s->count * sizeof(*sorted));
		qsort(sorted, s->count, sizeof(*sorted), by_id);
		err = add_new(s, sorted, f);
	}
	if (!err) {
		memcpy(sorted, s->list, s->count * sizeof(*sorted));
		qsort(sorted, s->count, sizeof(*sorted), by_id);
		for (unsigned int i = 0; i < f->count; i++)
			lines[find(sorted, s->count, f->lines[i].id)->index] = &f->lines[i];
		apply(s, lines, changed, user);
	}
	free(sorted);
	free(lines);
	return err;
}

void sensors_free(struct sensors *s)
{
	for (unsigned int i = 0; i < s->count; i++) {
		free(s->list[i]->info.text);
		coverage_free(&s->list[i]->coverage);
		ledger_free(&s->list[i]->ledger);
		sodium_memzero(s->list[i], sizeof(*s->list[i]));
		free(s->list[i]);
	}
	free(s->list);
	memset(s, 0, sizeof(*s));
}

struct sensor *sensors_by_name(struct sensors *s, const char *name)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (s->list[i]->listed && !strcmp(s->list[i]->name, name))
			return s->list[i];
	return NULL;
}

/* ---- of one ---------------------------------------------------------------------------------- */

void sensors_due(struct sensors *list, struct sensor *s, uint64_t at_ns)
{
	if (!s->due_ns || at_ns < s->due_ns)
		s->due_ns = at_ns ? at_ns : 1;
	if (s->due_link)
		return;
	s->due_next = list->due;
	s->due_link = &list->due;
	if (s->due_next)
		s->due_next->due_link = &s->due_next;
	list->due = s;
}

void sensors_not_due(struct sensor *s)
{
	if (!s->due_link)
		return;
	*s->due_link = s->due_next;
	if (s->due_next)
		s->due_next->due_link = s->due_link;
	s->due_link = NULL;
	s->due_next = NULL;
}

int sensor_info_set(struct sensor *s, const void *text, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy)
		return -ENOMEM;
	if (len)
		memcpy(copy, text, len);
	copy[len] = 0;
	free(s->info.text);
	s->info.text = copy;
	s->info.len = len;
	return 0;
}
