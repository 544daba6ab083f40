// SPDX-License-Identifier: GPL-2.0
/* links: collector/model/sensors.o collector/model/ledger.o collector/model/sensors_file.o
 * collector/model/linktypes.o wire/keys.o collector/model/coverage.o
 * collector/model/groups_file.o wire/channel.o wire/dwell.o */
/*
 * Sensors files, and the list made from one after the other. Always holds: a refused file leaves
 * nothing behind; in an accepted one, every name, id and key is valid and unique, and it reads the
 * same when written again; a sensor keeps its place, and is listed as in the last file.
 */
#include <errno.h>

#include "collector/model/sensors.h"
#include "fuzz.h"

static int read_text(struct sensors_file *f, const void *text, size_t len)
{
	int err = sensors_file_read(f, fuzz_file(text, len), "fuzz");

	CHECK(err == 0 ? f->count > 0 : err == -EINVAL && !f->lines && !f->count);
	return err;
}

static void check_line(const struct sensors_file *f, unsigned int i)
{
	const struct sensors_line *a = &f->lines[i];

	CHECK(a->id && a->name[0] && strlen(a->name) < SENSOR_NAME_MAX);
	for (const char *p = a->name; *p; p++)
		CHECK(*p > ' ' && *p < 127 && *p != '"' && *p != '\\' && *p != '/');
	for (unsigned int k = 0; k < i; k++)
		CHECK(f->lines[k].id != a->id && strcmp(f->lines[k].name, a->name) &&
		      memcmp(f->lines[k].public, a->public, KEY_LEN));
}

/* An order's list has dwells, which are all the same; the file has them beside it. */
static void write_groups(FILE *out, const struct groups_file *g)
{
	for (unsigned int i = 0; i < g->groups_count; i++) {
		const struct group_line *l = &g->groups[i];
		const char *dwell = "";
		bool inside = false;

		fprintf(out, "group %s%s", l->name, l->list[0] ? " channels " : "");
		for (const char *p = l->list; *p; p++) {
			if (*p == '@')
				dwell = p + 1;
			inside = *p == '@' || (inside && *p != ',');
			if (!inside)
				putc(*p, out);
		}
		fprintf(out, "%s%s\n", *dwell ? " dwell " : "", dwell);
	}
	for (unsigned int i = 0; i < g->rules_count; i++)
		fprintf(out, "refocus %s for %ums %s\n", g->rules[i].name, g->rules[i].ms,
			g->rules[i].expression);
}

static void check_groups(const struct groups_file *a, const struct groups_file *b)
{
	CHECK(a->groups_count == b->groups_count && a->rules_count == b->rules_count);
	for (unsigned int i = 0; i < a->groups_count; i++)
		CHECK(!strcmp(a->groups[i].name, b->groups[i].name) &&
		      !strcmp(a->groups[i].list, b->groups[i].list));
	for (unsigned int i = 0; i < a->rules_count; i++)
		CHECK(a->rules[i].group && a->rules[i].group == b->rules[i].group &&
		      a->rules[i].ms == b->rules[i].ms &&
		      !strcmp(a->rules[i].expression, b->rules[i].expression));
}

static void write_linktypes(FILE *out, const struct linktypes *l)
{
	const char *comma = " linktypes=";

	if (!l->listed)
		return;
	if (l->any)
		fprintf(out, "%sany", comma);
	comma = l->any ? "," : comma;
	if (l->defaults)
		fprintf(out, "%sdefault", comma);
	comma = l->defaults ? "," : comma;
	for (unsigned int i = 0; i < l->count; i++, comma = ",")
		fprintf(out, "%s%u", comma, l->list[i]);
}

static void check_same(const struct sensors_file *f)
{
	struct sensors_file again;
	char *text = NULL, key[KEY_TEXT_LEN], preshared[KEY_TEXT_LEN];
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	for (unsigned int i = 0; i < f->count; i++) {
		key_to_text(key, f->lines[i].public);
		key_to_text(preshared, f->lines[i].preshared);
		fprintf(out, "%s %u %s %s%s%s%s", f->lines[i].name, f->lines[i].id, key, preshared,
			f->lines[i].one_way ? " one-way" : "",
			f->lines[i].group_name[0] ? " group=" : "", f->lines[i].group_name);
		write_linktypes(out, &f->lines[i].linktypes);
		putc('\n', out);
	}
	write_groups(out, &f->groups);
	fclose(out);
	CHECK(read_text(&again, text, len) == 0 && again.count == f->count);
	for (unsigned int i = 0; i < f->count; i++) {
		again.lines[i].number = f->lines[i].number;
		CHECK(!memcmp(&again.lines[i], &f->lines[i], sizeof(*f->lines)));
	}
	check_groups(&again.groups, &f->groups);
	sensors_file_free(&again);
	free(text);
}

static int made(void *arg, struct sensor *s)
{
	(void)arg;
	(void)s;
	return 0;
}

static void freed(void *arg, struct sensor *s)
{
	(void)arg;
	(void)s;
}

static void changed(void *arg, struct sensor *s, unsigned int what)
{
	(void)s;
	(void)what;
	++*(unsigned int *)arg;
}

/* Checks that the number of listed sensors equals the lines, and each matches its line. */
static void check_list(struct sensors *s, const struct sensors_file *f)
{
	unsigned int listed = 0;

	for (unsigned int i = 0; i < s->count; i++) {
		CHECK(s->list[i]->index == i);
		listed += s->list[i]->listed;
	}
	CHECK(listed == f->count);
	for (unsigned int i = 0; i < f->count; i++) {
		const struct sensor *x = sensors_by_name(s, f->lines[i].name);

		CHECK(x && x->id == f->lines[i].id);
		CHECK(!memcmp(x->public, f->lines[i].public, KEY_LEN));
		CHECK(!memcmp(x->preshared, f->lines[i].preshared, KEY_LEN));
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	CHECK(keys_init() == 0);
	fuzz_quiet();
	return 0;
}

/* Files, one after the other, separated by form feeds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *end = data + len, *next;
	unsigned int changes;
	const struct sensors_user user = {
		.arg = &changes, .made = made, .freed = freed, .changed = changed
	};
	struct sensors s = { 0 };
	struct sensors_file f;

	for (; data < end; data = next < end ? next + 1 : end) {
		next = memchr(data, '\f', end - data);
		next = next ? next : end;
		if (read_text(&f, data, next - data))
			continue;
		for (unsigned int i = 0; i < f.count; i++)
			check_line(&f, i);
		check_same(&f);
		CHECK(sensors_apply(&s, &f, &user) == 0);
		check_list(&s, &f);
		changes = 0;
		CHECK(sensors_apply(&s, &f, &user) == 0 && changes == 0);
		sensors_file_free(&f);
	}
	sensors_free(&s, &user);
	return 0;
}
