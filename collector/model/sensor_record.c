// SPDX-License-Identifier: GPL-2.0
/* Sensor record: see sensor_record.h. */
#include "sensor_record.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/bytes.h"

#define LINE_MAX_LEN 160

/* ---- write ----------------------------------------------------------------------------------- */

static size_t write_place(char *out, size_t room, const struct sensor_place *p)
{
	size_t len = 0;

	if (p->has_floor)
		len += snprintf(out + len, room - len, "floor=%d\n", p->floor);
	if (p->has_x)
		len += snprintf(out + len, room - len, "x=%.12g\n", p->x);
	if (p->has_y)
		len += snprintf(out + len, room - len, "y=%.12g\n", p->y);
	return len;
}

/* Every line has room: names, numbers and the list of link types are short. */
static size_t write_line(char *out, size_t room, const struct sensor *s)
{
	char linktypes[LINKTYPES_TEXT_LEN];
	size_t len;

	len = snprintf(out, room, "name=%s\nid=%u\n", s->name, s->id);
	if (s->group_name[0])
		len += snprintf(out + len, room - len, "group=%s\n", s->group_name);
	len += write_place(out + len, room - len, &s->place);
	if (s->linktypes.listed) {
		linktypes_word(linktypes, &s->linktypes);
		len += snprintf(out + len, room - len, "%s\n", linktypes);
	}
	return len;
}

void sensor_record_write(struct sensor_record *r, const struct sensor *s)
{
	uint8_t hash[crypto_generichash_BYTES_MIN];
	struct info_lasting lasting;
	struct info info;

	_Static_assert(SENSOR_RECORD_MAX > 5 * LINE_MAX_LEN + INFO_LASTING_MAX, "all lines fit");
	_Static_assert(SENSOR_NAME_MAX + sizeof("/0123456789abcdef") <= PUT_KEY_MAX, "a key fits");
	r->len = write_line(r->text, sizeof(r->text), s);
	info_read(&info, s->info.text ?: "", s->info.len);
	info.change = 0; /* rises each minute; the log would keep a record of each, for ever */
	info_write_lasting(&lasting, &info);
	memcpy(r->text + r->len, lasting.text, lasting.len);
	r->len += lasting.len;
	crypto_generichash(hash, sizeof(hash), (const uint8_t *)r->text, r->len, NULL, 0);
	r->hash = load_be(hash, 8);
	snprintf(r->key, sizeof(r->key), "%s/%016llx", s->name, (unsigned long long)r->hash);
}

/* ---- read ------------------------------------------------------------------------------------ */

static bool read_id(struct sensors_line *line, const char *text)
{
	char *end;
	unsigned long id = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !id || id > UINT16_MAX)
		return false;
	line->id = id;
	return true;
}

/* Whether the line is right, or is none of ours. */
static bool read_word(struct sensors_line *line, char *word)
{
	const char *wrong = NULL;

	if (!strncmp(word, "name=", 5)) {
		if (!sensors_file_name_valid(word + 5))
			return false;
		strcpy(line->name, word + 5);
	} else if (!strncmp(word, "id=", 3)) {
		return read_id(line, word + 3);
	} else if (!strncmp(word, "group=", 6)) {
		if (!sensors_file_name_valid(word + 6) || strlen(word + 6) >= GROUP_NAME_MAX)
			return false;
		strcpy(line->group_name, word + 6);
	} else if (!strncmp(word, "linktypes=", 10)) {
		if (line->linktypes.listed)
			return false;
		wrong = linktypes_read(&line->linktypes, word + 10);
	} else {
		sensors_file_place(&line->place, word, &wrong);
	}
	return !wrong;
}

int sensor_record_read(struct sensors_line *line, const char *text, size_t len)
{
	char word[LINE_MAX_LEN];

	memset(line, 0, sizeof(*line));
	for (size_t at = 0, n; at < len; at += n + 1) {
		const char *end = memchr(text + at, '\n', len - at);

		n = end ? (size_t)(end - text) - at : len - at;
		if (n >= sizeof(word))
			continue; /* the sensor's own lines may be longer */
		memcpy(word, text + at, n);
		word[n] = 0;
		if (!read_word(line, word))
			return -EBADMSG;
	}
	return line->name[0] && line->id ? 0 : -EBADMSG;
}
