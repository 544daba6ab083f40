/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines: events as the collector writes them, one JSON object per line. Part of saluki/consumer.h;
 * do not include it elsewhere. In: a line. Out: its event. Always holds: no byte beyond the line is
 * read, and a malformed line gives no event.
 */
#ifndef SALUKI_CONSUMER_LINES_H
#define SALUKI_CONSUMER_LINES_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

struct consumer_line {
	char sensor[32], interface[16], module[MODULE_NAME_MAX + 1];
	__u64 time_ns, serial;
	__u8 direction;
	__u32 len;
	__u8 data[MODULE_EVENT_MAX];
};

/* Each reads one element at `*at`, and returns whether it was there. */
static inline bool lines_char(const char **at, char c)
{
	while (**at == ' ' || **at == '\t' || **at == '\r')
		(*at)++;
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

static inline int lines_hex(char c)
{
	const char *digits = "0123456789abcdef", *found = strchr(digits, c | 0x20);

	return c && found ? found - digits : -1;
}

/* Returns the character for an escape sequence; 0: unknown. */
static inline char lines_escaped(const char **at)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found = **at ? strchr(from, **at) : NULL;
	int code = 0, digit;

	if (found) {
		(*at)++;
		return to[found - from];
	}
	if (**at != 'u')
		return 0;
	(*at)++;
	for (int i = 0; i < 4; i++, (*at)++) {
		digit = lines_hex(**at);
		if (digit < 0)
			return 0;
		code = code << 4 | digit;
	}
	return code && code < 256 ? (char)code : '?'; /* names are bytes */
}

/* Reads a string into out[max]; NULL: skips it. */
static inline bool lines_string(const char **at, char *out, size_t max)
{
	size_t n = 0;

	if (!lines_char(at, '"'))
		return false;
	while (**at && **at != '"') {
		char c = *(*at)++;

		if (c == '\\')
			c = lines_escaped(at);
		if (!c || (out && n + 1 >= max))
			return false;
		if (out) /* no control characters: it may be printed on a terminal */
			out[n++] = (unsigned char)c < ' ' || c == 127 ? '?' : c;
	}
	if (out)
		out[n] = 0;
	return lines_char(at, '"');
}

static inline bool lines_number(const char **at, __u64 *out)
{
	char *end;

	lines_char(at, ' ');
	if (**at < '0' || **at > '9')
		return false;
	*out = strtoull(*at, &end, 10);
	*at = end;
	return true;
}

static inline bool lines_data(const char **at, struct consumer_line *l)
{
	char text[2 * MODULE_EVENT_MAX + 1];

	if (!lines_string(at, text, sizeof(text)) || strlen(text) % 2)
		return false;
	l->len = strlen(text) / 2;
	for (__u32 i = 0; i < l->len; i++) {
		int high = lines_hex(text[2 * i]), low = lines_hex(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		l->data[i] = high << 4 | low;
	}
	return l->len > 0;
}

static inline bool lines_direction(const char **at, struct consumer_line *l)
{
	char text[8];

	if (!lines_string(at, text, sizeof(text)))
		return false;
	l->direction = strcmp(text, "out") ? 1 : 2;
	return true;
}

/* Skips an unknown field's value: a later collector may have more fields. */
static inline bool lines_skip(const char **at)
{
	int depth = 0;

	for (; **at && (depth || !strchr(",}", **at)); (*at)++) {
		if (**at == '"') {
			if (!lines_string(at, NULL, 0))
				return false;
			(*at)--;
		} else if (strchr("{[", **at)) {
			depth++;
		} else if (strchr("}]", **at)) {
			depth--;
		}
	}
	return **at && !depth;
}

static inline bool lines_field(const char **at, struct consumer_line *l)
{
	char key[32];

	if (!lines_string(at, key, sizeof(key)) || !lines_char(at, ':'))
		return false;
	lines_char(at, ' ');
	if (!strcmp(key, "sensor"))
		return lines_string(at, l->sensor, sizeof(l->sensor));
	if (!strcmp(key, "interface"))
		return lines_string(at, l->interface, sizeof(l->interface));
	if (!strcmp(key, "module"))
		return lines_string(at, l->module, sizeof(l->module));
	if (!strcmp(key, "serial"))
		return lines_number(at, &l->serial);
	if (!strcmp(key, "time_ns"))
		return lines_number(at, &l->time_ns);
	if (!strcmp(key, "direction"))
		return lines_direction(at, l);
	if (!strcmp(key, "data"))
		return lines_data(at, l);
	return lines_skip(at);
}

/* Returns whether `text` is a complete event. The caller checks its module. */
static inline bool lines_read(struct consumer_line *l, const char *text)
{
	memset(l, 0, sizeof(*l));
	if (!lines_char(&text, '{'))
		return false;
	do {
		if (!lines_field(&text, l))
			return false;
	} while (lines_char(&text, ','));
	return lines_char(&text, '}') && (lines_char(&text, ' '), !*text) && *l->module && l->len &&
	       l->time_ns && l->direction;
}

#endif
