// SPDX-License-Identifier: GPL-2.0
/* links: collector/sensors.o collector/reassemble.o wire/keys.o */
/*
 * The file of sensors. Always holds: what is refused leaves nothing behind; of what is taken
 * every name, id and key is valid and there once, can be found by its key, and the list written
 * out again reads the same.
 */
#include <errno.h>

#include "collector/sensors.h"
#include "fuzz.h"

static int read_text(struct sensors *s, const void *text, size_t len)
{
	char path[64];
	int fd = fuzz_file(text, len), err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = sensors_read(s, path);
	CHECK(err == 0 ? s->count > 0 : err == -EINVAL && !s->list && !s->count);
	close(fd);
	return err;
}

static void check_sensor(struct sensors *s, unsigned int i)
{
	struct sensor *a = &s->list[i];

	CHECK(a->id && a->name[0] && strlen(a->name) < SENSOR_NAME_MAX);
	for (const char *p = a->name; *p; p++)
		CHECK(*p > ' ' && *p < 127 && *p != '"' && *p != '\\' && *p != '/');
	CHECK(sensors_by_key(s, a->public) == a);
	for (unsigned int k = 0; k < i; k++)
		CHECK(s->list[k].id != a->id && strcmp(s->list[k].name, a->name));
}

static void check_same(struct sensors *s)
{
	struct sensors again;
	size_t len = 0;
	char *text = NULL, key[KEY_TEXT_LEN];
	FILE *f = open_memstream(&text, &len);

	for (unsigned int i = 0; i < s->count; i++) {
		key_to_text(key, s->list[i].public);
		fprintf(f, "%s %u %s\n", s->list[i].name, s->list[i].id, key);
	}
	fclose(f);
	CHECK(read_text(&again, text, len) == 0 && again.count == s->count);
	for (unsigned int i = 0; i < s->count; i++)
		CHECK(!memcmp(&again.list[i], &s->list[i], sizeof(*s->list)));
	sensors_free(&again);
	free(text);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	CHECK(keys_init() == 0);
	fuzz_quiet();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct sensors s;

	if (read_text(&s, data, len))
		return 0;
	for (unsigned int i = 0; i < s.count; i++)
		check_sensor(&s, i);
	check_same(&s);
	sensors_free(&s);
	return 0;
}
