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

static void sensor_free(struct sensor *s, const struct sensors_user *u)
{
	u->freed(u->arg, s);
	free(s->info.text);
	coverage_free(&s->coverage);
	free(s->modules);
	ledger_free(&s->ledger);
	sodium_memzero(s, sizeof(*s));
	free(s);
}

static struct sensor *sensor_new(uint16_t id, uint32_t index, const struct sensors_user *u)
{
	struct sensor *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	keys_lock(s, sizeof(*s));
	s->id = id;
	s->index = index;
	if (u->made(u->arg, s) == 0)
		return s;
	sensor_free(s, u);
	return NULL;
}

/* Makes the missing sensors, and appends them to the list. */
static int add_new(struct sensors *s, struct sensor **sorted, const struct sensors_file *f,
		   const struct sensors_user *u)
{
	struct sensor **list = realloc(s->list, (s->count + f->count) * sizeof(*list));
	unsigned int had = s->count;

	if (!list)
		return -ENOMEM;
	s->list = list;
	for (unsigned int i = 0; i < f->count; i++) {
		if (find(sorted, had, f->lines[i].id))
			continue;
		list[s->count] = sensor_new(f->lines[i].id, s->count, u);
		if (!list[s->count]) {
			while (s->count > had)
				sensor_free(list[--s->count], u);
			return -ENOMEM;
		}
		s->count++;
	}
	return 0;
}

static bool same_keys(const struct sensor *s, const struct sensors_line *l)
{
	return s->one_way == l->one_way && !memcmp(s->public, l->public, KEY_LEN) &&
	       !memcmp(s->next, l->next, KEY_LEN) &&
	       !sodium_memcmp(s->preshared, l->preshared, KEY_LEN);
}

/* Sets whether the sensor is listed, and its keys. Returns whether they changed. */
static bool apply_keys(struct sensor *s, const struct sensors_line *l)
{
	if (!l && !s->listed)
		return false;
	if (l && s->listed && same_keys(s, l))
		return false;
	s->listed = l != NULL;
	s->one_way = l && l->one_way;
	memset(s->preshared, 0, KEY_LEN);
	if (l) {
		memcpy(s->public, l->public, KEY_LEN);
		memcpy(s->next, l->next, KEY_LEN);
		memcpy(s->preshared, l->preshared, KEY_LEN);
	}
	return true;
}

/* Applies the sensor's line; NULL: it has none. Returns the changes. */
static unsigned int apply(struct sensor *s, const struct sensors_line *l)
{
	unsigned int what = 0;

	if (l && strcmp(s->name, l->name)) {
		strcpy(s->name, l->name);
		what |= SENSOR_NAMED;
	}
	if (strcmp(s->group_name, l ? l->group_name : "")) {
		strcpy(s->group_name, l ? l->group_name : "");
		what |= SENSOR_NAMED;
	}
	s->group = l ? l->group : 0;
	s->place = l ? l->place : (struct sensor_place){ 0 };
	if (l && memcmp(&s->linktypes, &l->linktypes, sizeof(l->linktypes))) {
		s->linktypes = l->linktypes;
		what |= SENSOR_LINKTYPES;
	}
	return what | (apply_keys(s, l) ? SENSOR_KEYS : 0);
}

int sensors_apply(struct sensors *s, const struct sensors_file *f, const struct sensors_user *u)
{
	unsigned int most = s->count + f->count;
	struct sensor **sorted = calloc(most + 1, sizeof(*sorted));
	const struct sensors_line **lines = calloc(most + 1, sizeof(*lines));
	int err = sorted && lines ? 0 : -ENOMEM;

	if (!err) {
		if (s->count)
			memcpy(sorted, s->list, s->count * sizeof(*sorted));
		qsort(sorted, s->count, sizeof(*sorted), by_id);
		err = add_new(s, sorted, f, u);
	}
	if (!err) {
		memcpy(sorted, s->list, s->count * sizeof(*sorted));
		qsort(sorted, s->count, sizeof(*sorted), by_id);
		for (unsigned int i = 0; i < f->count; i++)
			lines[find(sorted, s->count, f->lines[i].id)->index] = &f->lines[i];
		for (unsigned int i = 0; i < s->count; i++) {
			unsigned int what = apply(s->list[i], lines[i]);

			if (what)
				u->changed(u->arg, s->list[i], what);
		}
	}
	free(sorted);
	free(lines);
	return err;
}

struct sensor *sensors_add(struct sensors *s, uint16_t id, const struct sensors_user *u)
{
	struct sensor **list = realloc(s->list, (s->count + 1) * sizeof(*list));
	struct sensor *new;

	if (!list)
		return NULL;
	s->list = list;
	new = sensor_new(id, s->count, u);
	if (new)
		list[s->count++] = new;
	return new;
}

void sensors_change(struct sensor *s, const struct sensors_line *l, const struct sensors_user *u)
{
	unsigned int what = apply(s, l);

	if (what)
		u->changed(u->arg, s, what);
}

void sensors_free(struct sensors *s, const struct sensors_user *u)
{
	for (unsigned int i = 0; i < s->count; i++)
		sensor_free(s->list[i], u);
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

/* ---- one sensor ------------------------------------------------------------------------------ */

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

int sensor_info_set(struct sensor_info *i, const void *text, size_t len)
{
	static uint32_t version;
	char *copy = malloc(len + 1);

	if (!copy)
		return -ENOMEM;
	if (len)
		memcpy(copy, text, len);
	copy[len] = 0;
	free(i->text);
	*i = (struct sensor_info){ .len = len, .version = ++version, .text = copy };
	return 0;
}
