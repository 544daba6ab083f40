// SPDX-License-Identifier: GPL-2.0
/* Events: see events.h. */
#include "events.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_MAX_BYTES 4096
#define KEY_MAX 16

enum { TIME, SENSOR, INTERFACE, MODULE, SERIAL, DIRECTION, DATA, ID, FILE_NAME, COLUMNS };

static const struct table_column columns[] = {
	ALWAYS("time", PARQUET_INT64, PARQUET_TIMESTAMP_NS),
	ALWAYS("sensor", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	OPTIONAL("interface", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	ALWAYS("module", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	OPTIONAL("serial", PARQUET_INT64, PARQUET_UINT64),
	OPTIONAL("direction", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	OPTIONAL("data", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	OPTIONAL("id", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	ALWAYS("file", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
};

_Static_assert(sizeof(columns) / sizeof(*columns) == COLUMNS, "the rows of the table");

/* By column. */
static const char *const keys[] = { "time_ns", "sensor",    "interface", "module",
				    "serial",  "direction", "data",	 "id" };

int events_open(struct table *t, int fd)
{
	return table_open(t, columns, COLUMNS, SENSOR, TIME, fd);
}

/* A line has texts and whole numbers only. */
struct reader {
	const char *at, *end;
};

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && isspace((unsigned char)*r->at))
		r->at++;
}

static bool take(struct reader *r, char c)
{
	skip_blanks(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* Reads \uNNNN behind the backslash and the u. The collector writes such for bytes only. */
static int read_code(struct reader *r)
{
	char digits[5] = "", *end;
	long v;

	if (r->end - r->at < 4)
		return -EBADMSG;
	memcpy(digits, r->at, 4);
	v = strtol(digits, &end, 16);
	r->at += 4;
	return *end || v > UINT8_MAX ? -EBADMSG : (int)v;
}

/* Reads a text. Returns its length, or -EBADMSG. */
static int read_text(struct reader *r, char *text, size_t size)
{
	size_t len = 0;

	if (!take(r, '"'))
		return -EBADMSG;
	while (r->at < r->end && *r->at != '"') {
		int c = (unsigned char)*r->at++;

		if (c == '\\' && r->at < r->end) {
			c = (unsigned char)*r->at++;
			c = c == 'u' ? read_code(r) : c;
		}
		if (c < 0 || len == size)
			return -EBADMSG;
		text[len++] = c;
	}
	return take(r, '"') ? (int)len : -EBADMSG;
}

static int read_number(struct reader *r, uint64_t *v)
{
	char digits[24] = "";
	size_t len = 0;

	skip_blanks(r);
	while (r->at < r->end && isdigit((unsigned char)*r->at) && len < sizeof(digits) - 1)
		digits[len++] = *r->at++;
	*v = strtoull(digits, NULL, 10);
	return len ? 0 : -EBADMSG;
}

static int column_of(const char *key, int len)
{
	for (int i = 0; i < FILE_NAME; i++)
		if (len == (int)strlen(keys[i]) && !memcmp(key, keys[i], len))
			return i;
	return -1;
}

/* Reads a member, and sets its column. */
static int member(struct table *t, struct reader *r, unsigned int *set)
{
	char key[KEY_MAX], text[LINE_MAX_BYTES];
	int len = read_text(r, key, sizeof(key)), column = len < 0 ? -1 : column_of(key, len);
	uint64_t v = 0;
	bool is_text;

	if (len < 0 || !take(r, ':'))
		return -EBADMSG;
	skip_blanks(r);
	is_text = r->at < r->end && *r->at == '"';
	len = is_text ? read_text(r, text, sizeof(text)) : read_number(r, &v);
	if (len < 0)
		return len;
	if (column < 0)
		return 0;
	if (is_text != (columns[column].of.type == PARQUET_TEXT))
		return -EBADMSG;
	if (is_text)
		table_text(t, column, text, len);
	else
		table_int64(t, column, (int64_t)v);
	*set |= 1u << column;
	return 0;
}

static int members(struct table *t, struct reader *r)
{
	unsigned int set = 0, needed = 1u << TIME | 1u << SENSOR | 1u << MODULE;
	int err = take(r, '{') ? 0 : -EBADMSG;

	while (!err) {
		err = member(t, r, &set);
		if (!err && !take(r, ','))
			break;
	}
	return err ?: take(r, '}') && (set & needed) == needed ? 0 : -EBADMSG;
}

int events_row(struct table *t, const char *line, size_t len, const char *file)
{
	struct reader r = { .at = line, .end = line + len };
	int err = members(t, &r);

	if (err) {
		table_unset(t);
		return err;
	}
	table_text(t, FILE_NAME, file, strlen(file));
	return table_row(t);
}
