// SPDX-License-Identifier: GPL-2.0
/* The sensors file: see sensors.h. */
#include "sensors.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/log.h>

#define LINE_MAX_LEN 512

static int name_valid(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	return strlen(name) < SENSOR_NAME_MAX && name[strspn(name, allowed)] == 0;
}

/* Returns what is wrong with a line, or NULL. */
static const char *parse_line(struct sensors *s, const char *name, const char *id, const char *key)
{
	struct sensor *new = &s->list[s->count];
	char *end;
	unsigned long number;

	if (!name || !id || !key)
		return "must be NAME ID PUBLIC-KEY";
	if (!name_valid(name))
		return "a name is at most 31 letters, digits, dots, dashes and underscores";
	number = strtoul(id, &end, 10);
	if (*end || end == id || number < 1 || number > 65535)
		return "an id is a number from 1 to 65535";
	if (key_from_text(new->public, key))
		return "the public key is not 44 characters of base64 ('saluki pubkey' prints it)";
	for (unsigned int i = 0; i < s->count; i++) {
		if (!strcmp(s->list[i].name, name))
			return "this name is taken";
		if (s->list[i].id == number)
			return "this id is taken";
		if (!memcmp(s->list[i].public, new->public, KEY_LEN))
			return "this public key is taken";
	}
	strcpy(new->name, name);
	new->id = number;
	s->count++;
	return NULL;
}

static int parse(struct sensors *s, FILE *f, const char *path)
{
	char line[LINE_MAX_LEN];

	for (int number = 1; fgets(line, sizeof(line), f); number++) {
		char *save, *name, *id, *key;
		const char *wrong;
		void *list;

		line[strcspn(line, "#\r\n")] = 0;
		name = strtok_r(line, " \t", &save);
		if (!name)
			continue;
		id = strtok_r(NULL, " \t", &save);
		key = strtok_r(NULL, " \t", &save);
		list = realloc(s->list, (s->count + 1) * sizeof(*s->list));
		if (!list)
			return -ENOMEM;
		s->list = list;
		memset(&s->list[s->count], 0, sizeof(*s->list));
		wrong = parse_line(s, name, id, key);
		if (wrong || strtok_r(NULL, " \t", &save)) {
			log_line("--sensors %s: line %d: %s", path, number,
				 wrong ? wrong : "must be NAME ID PUBLIC-KEY");
			return -EINVAL;
		}
	}
	return 0;
}

int sensors_read(struct sensors *s, const char *path)
{
	FILE *f = fopen(path, "re");
	int err;

	memset(s, 0, sizeof(*s));
	if (!f) {
		log_line("--sensors %s: %s", path, strerror(errno));
		return -errno;
	}
	err = parse(s, f, path);
	fclose(f);
	if (!err && s->count == 0) {
		log_line("--sensors %s: lists no sensor; add a line NAME ID PUBLIC-KEY", path);
		err = -EINVAL;
	}
	if (err)
		sensors_free(s);
	return err;
}

void sensors_free(struct sensors *s)
{
	for (unsigned int i = 0; i < s->count; i++) {
		reassemble_free(&s->list[i].reassembly);
		sodium_memzero(&s->list[i], sizeof(s->list[i]));
	}
	free(s->list);
	memset(s, 0, sizeof(*s));
}

struct sensor *sensors_by_key(struct sensors *s, const uint8_t public[KEY_LEN])
{
	for (unsigned int i = 0; i < s->count; i++)
		if (!memcmp(s->list[i].public, public, KEY_LEN))
			return &s->list[i];
	return NULL;
}
