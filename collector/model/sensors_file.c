// SPDX-License-Identifier: GPL-2.0
/* Sensors file: see sensors_file.h. */
#include "sensors_file.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define LINE_MAX_LEN 4096 /* room for a plan's channels, given as frequencies */

bool sensors_file_name_valid(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	return strlen(name) < SENSOR_NAME_MAX && name[strspn(name, allowed)] == 0;
}

#define USAGE                                                                                      \
	"must be NAME ID PUBLIC-KEY, a preshared key where there is one, 'one-way' where it is "   \
	"that, next=PUBLIC-KEY while its key is changed, group=GROUP where it is in one, "         \
	"linktypes=LIST where it sends other link types than usual, and floor=NUMBER x=METRES "    \
	"y=METRES where its place is known"

#define ONE_WAY "one-way" /* shorter than any key */
#define NEXT "next="
#define GROUP "group="
#define LINKTYPES "linktypes="
#define FLOOR "floor="
#define X "x="
#define Y "y="
#define FLOOR_MAX 10000
#define METRES_MAX 1e7

static bool begins(const char *word, const char *with)
{
	return !strncmp(word, with, strlen(with));
}

static const char *parse_group(struct sensors_line *new, const char *name)
{
	if (!*name || !sensors_file_name_valid(name))
		return "a group's name is at most 31 letters, digits, dots, dashes and underscores";
	strcpy(new->group_name, name);
	return NULL;
}

static const char *parse_next(struct sensors_line *new, const char *key)
{
	if (key_from_text(new->next, key) || sodium_is_zero(new->next, KEY_LEN))
		return "the next public key is not 44 characters of base64 ('saluki pubkey' prints "
		       "it)";
	return NULL;
}

static const char *parse_floor(struct sensor_place *p, const char *text)
{
	char *end;
	long floor = strtol(text, &end, 10);

	if (end == text || *end || floor < -FLOOR_MAX || floor > FLOOR_MAX)
		return "a floor is a whole number, from -10000 to 10000";
	p->floor = floor;
	p->has_floor = true;
	return NULL;
}

/* A decimal number. Not strtod() alone: it takes hexadecimal digits, "inf" and "nan", too. */
static const char *parse_metres(double *metres, bool *has, const char *text)
{
	char *end;

	*metres = strtod(text, &end);
	if (end == text || text[strspn(text, "+-.0123456789")] || *end || *metres < -METRES_MAX ||
	    *metres > METRES_MAX)
		return "x= and y= are in metres: decimal numbers, from -10000000 to 10000000";
	*has = true;
	return NULL;
}

bool sensors_file_place(struct sensor_place *p, const char *word, const char **wrong)
{
	if (begins(word, FLOOR) && !p->has_floor)
		*wrong = parse_floor(p, word + strlen(FLOOR));
	else if (begins(word, X) && !p->has_x)
		*wrong = parse_metres(&p->x, &p->has_x, word + strlen(X));
	else if (begins(word, Y) && !p->has_y)
		*wrong = parse_metres(&p->y, &p->has_y, word + strlen(Y));
	else
		return false;
	return true;
}

/* Parses a word after the key. Each may occur once; a preshared key must be the `first`. */
static const char *parse_word(struct sensors_line *new, char *word, bool first)
{
	const char *wrong;

	if (sensors_file_place(&new->place, word, &wrong))
		return wrong;
	if (begins(word, NEXT) && sodium_is_zero(new->next, KEY_LEN))
		return parse_next(new, word + strlen(NEXT));
	if (begins(word, GROUP) && !new->group_name[0])
		return parse_group(new, word + strlen(GROUP));
	if (begins(word, LINKTYPES) && !new->linktypes.listed)
		return linktypes_read(&new->linktypes, word + strlen(LINKTYPES));
	if (!strcmp(word, ONE_WAY) && !new->one_way) {
		new->one_way = true;
		return NULL;
	}
	if (!first || begins(word, NEXT) || begins(word, GROUP) || begins(word, LINKTYPES))
		return USAGE;
	if (key_from_text(new->preshared, word))
		return "the preshared key is not 44 characters of base64 ('saluki genpsk' makes "
		       "one)";
	return NULL;
}

/* Parses the words after the key. Returns NULL, or the mistake. */
static const char *parse_words(struct sensors_line *new, char *save)
{
	const char *wrong = NULL;
	bool first = true;
	char *word;

	for (; !wrong && (word = strtok_r(NULL, " \t", &save)); first = false)
		wrong = parse_word(new, word, first);
	return wrong;
}

/* Returns 0 for a malformed id. */
static uint16_t parse_id(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	return *end || end == text || number > 65535 ? 0 : number;
}

/* Returns whether id and key follow at a later word: then the name has a blank. */
static bool name_has_blank(const char *third, char *save)
{
	const char *before = third, *word;
	uint8_t key[KEY_LEN];
	bool found = false;

	while (!found && (word = strtok_r(NULL, " \t", &save))) {
		found = parse_id(before) && !key_from_text(key, word);
		before = word;
	}
	sodium_memzero(key, sizeof(key));
	return found;
}

/* Parses a line. Returns NULL, or the mistake. */
static const char *parse_line(struct sensors_line *new, char *text)
{
	char *save, *name = strtok_r(text, " \t", &save), *id = strtok_r(NULL, " \t", &save);
	char *public = strtok_r(NULL, " \t", &save);

	if (!public)
		return USAGE;
	if (!sensors_file_name_valid(name))
		return "a name is at most 31 letters, digits, dots, dashes and underscores";
	new->id = parse_id(id);
	if (key_from_text(new->public, public) && name_has_blank(public, save))
		return "a name has no blanks in it: it is at most 31 letters, digits, dots, dashes "
		       "and underscores";
	if (!new->id)
		return "an id is a number from 1 to 65535";
	if (key_from_text(new->public, public))
		return "the public key is not 44 characters of base64 ('saluki pubkey' prints it)";
	strcpy(new->name, name);
	return parse_words(new, save);
}

/* Returns the place of the next line, or NULL without memory. Doubles the room if it is full. */
static struct sensors_line *next_place(struct sensors_file *f)
{
	unsigned int room = f->count < 16 ? 16 : f->count * 2;
	struct sensors_line *lines;

	if (f->count && (f->count < 16 || (f->count & (f->count - 1))))
		return &f->lines[f->count];
	/* Not realloc(): it would leave keys in freed memory. */
	lines = calloc(room, sizeof(*lines));
	if (!lines)
		return NULL;
	if (f->count) {
		memcpy(lines, f->lines, f->count * sizeof(*lines));
		sodium_memzero(f->lines, f->count * sizeof(*lines));
	}
	free(f->lines);
	f->lines = lines;
	return &f->lines[f->count];
}

static int parse(struct sensors_file *f, FILE *in, const char *path)
{
	char line[LINE_MAX_LEN];
	int err = 0;

	for (int number = 1; !err && fgets(line, sizeof(line), in); number++) {
		struct sensors_line *new;
		const char *wrong;

		if (!strpbrk(line, "\n") && !feof(in)) {
			log_line("--sensors %s: line %d: is too long", path, number);
			err = -EINVAL;
			break;
		}
		line[strcspn(line, "#\r\n")] = 0;
		if (!line[strspn(line, " \t")])
			continue;
		if (groups_file_has(line)) {
			wrong = groups_file_line(&f->groups, line, number);
		} else {
			new = next_place(f);
			if (!new)
				return -ENOMEM;
			wrong = parse_line(new, line);
			new->number = number;
			f->count++;
		}
		if (wrong) {
			log_line("--sensors %s: line %d: %s", path, number, wrong);
			err = -EINVAL;
		}
	}
	sodium_memzero(line, sizeof(line));
	return err;
}

/* ---- duplicates ------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
	const struct sensors_line *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int by_id(const void *a, const void *b)
{
	const struct sensors_line *const *x = a, *const *y = b;

	return (*x)->id - (*y)->id;
}

/* Returns the number of the first line that repeats a value of an earlier one, or 0. */
static unsigned int find_twice(const struct sensors_file *f, const struct sensors_line **sorted,
			       int (*compare)(const void *, const void *))
{
	unsigned int first = 0;

	for (unsigned int i = 0; i < f->count; i++)
		sorted[i] = &f->lines[i];
	qsort(sorted, f->count, sizeof(*sorted), compare);
	for (unsigned int i = 1; i < f->count; i++) {
		unsigned int a = sorted[i - 1]->number, b = sorted[i]->number,
			     later = a > b ? a : b;

		if (compare(&sorted[i - 1], &sorted[i]) == 0 && (!first || later < first))
			first = later;
	}
	return first;
}

/* A public key, and the number of its line. */
struct listed_key {
	const uint8_t *key;
	unsigned int number;
};

static int by_key(const void *a, const void *b)
{
	const struct listed_key *x = a, *y = b;

	return memcmp(x->key, y->key, KEY_LEN);
}

/* As find_twice(), for the sensors' public keys and next public keys. `keys` has two places for
 * each line. */
static unsigned int find_key_twice(const struct sensors_file *f, struct listed_key *keys)
{
	unsigned int first = 0, n = 0;

	for (unsigned int i = 0; i < f->count; i++) {
		const struct sensors_line *l = &f->lines[i];

		keys[n++] = (struct listed_key){ l->public, l->number };
		if (!sodium_is_zero(l->next, KEY_LEN))
			keys[n++] = (struct listed_key){ l->next, l->number };
	}
	qsort(keys, n, sizeof(*keys), by_key);
	for (unsigned int i = 1; i < n; i++) {
		unsigned int a = keys[i - 1].number, b = keys[i].number, later = a > b ? a : b;

		if (by_key(&keys[i - 1], &keys[i]) == 0 && (!first || later < first))
			first = later;
	}
	return first;
}

static int check_twice(const struct sensors_file *f, const char *path)
{
	const struct sensors_line **sorted = malloc((f->count + 1) * sizeof(*sorted));
	struct listed_key *keys = malloc((2 * f->count + 1) * sizeof(*keys));
	int err = sorted && keys ? 0 : -ENOMEM;
	const char *what = "name";
	unsigned int number = 0;

	if (!err)
		number = find_twice(f, sorted, by_name);
	if (!err && !number) {
		what = "id";
		number = find_twice(f, sorted, by_id);
	}
	if (!err && !number) {
		what = "public key";
		number = find_key_twice(f, keys);
	}
	if (number) {
		log_line("--sensors %s: line %u: this %s is taken", path, number, what);
		err = -EINVAL;
	}
	free(sorted);
	free(keys);
	return err;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int check_groups(struct sensors_file *f, const char *path)
{
	unsigned int number;
	const char *wrong = groups_file_check(&f->groups, &number);

	for (unsigned int i = 0; !wrong && i < f->count; i++) {
		struct sensors_line *l = &f->lines[i];

		l->group = groups_file_find(&f->groups, l->group_name);
		if (l->group || !l->group_name[0])
			continue;
		wrong = "there is no such group; a line 'group NAME' makes it";
		number = l->number;
	}
	if (!wrong)
		return 0;
	log_line("--sensors %s: line %u: %s", path, number, wrong);
	return -EINVAL;
}

/* ---------------------------------------------------------------------------------------------- */

static bool has_preshared(const struct sensors_file *f)
{
	for (unsigned int i = 0; i < f->count; i++)
		if (!sodium_is_zero(f->lines[i].preshared, KEY_LEN))
			return true;
	return false;
}

int sensors_file_read_any(struct sensors_file *f, int fd, const char *path)
{
	FILE *in = fdopen(fd, "r");
	int err;

	memset(f, 0, sizeof(*f));
	if (!in) {
		close(fd);
		return -ENOMEM;
	}
	err = parse(f, in, path) ?: check_twice(f, path) ?: check_groups(f, path);
	if (!err && has_preshared(f) && !keys_private(fd))
		log_line("warning: --sensors %s: others can read its preshared keys; chmod 600 "
			 "%s",
			 path, path);
	if (err == -ENOMEM)
		log_line("--sensors %s: out of memory", path);
	fclose(in);
	if (err)
		sensors_file_free(f);
	return err;
}

int sensors_file_read(struct sensors_file *f, int fd, const char *path)
{
	int err = sensors_file_read_any(f, fd, path);

	if (err || f->count)
		return err;
	log_line("--sensors %s: lists no sensor; add a line NAME ID PUBLIC-KEY", path);
	sensors_file_free(f);
	return -EINVAL;
}

void sensors_file_free(struct sensors_file *f)
{
	if (f->lines)
		sodium_memzero(f->lines, f->count * sizeof(*f->lines));
	free(f->lines);
	groups_file_free(&f->groups);
	memset(f, 0, sizeof(*f));
}
