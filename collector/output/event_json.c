// SPDX-License-Identifier: GPL-2.0
/* Event JSON: see event_json.h. Sensors may send many events, so no printf formats are parsed. */
#include "event_json.h"

#include <errno.h>
#include <string.h>

#include <saluki/record.h>

#include "wire/info.h"

#define MODULE_KEY "\", \"module\": \"" /* unique: quotes inside strings are escaped */

int event_json_of(struct module_event *s, const struct combo_event *e)
{
	if (e->type != COMBO_EVENT_SAID || module_event_read(s, e->bytes, e->len) ||
	    s->interface >= INFO_INTERFACES_MAX)
		return -EBADMSG;
	return 0;
}

static char *put(char *p, const char *text)
{
	return stpcpy(p, text);
}

static char *put_hex(char *p, const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*p++ = digits[bytes[i] >> 4];
		*p++ = digits[bytes[i] & 15];
	}
	return p;
}

/* Interfaces' names may have any characters except blanks and slashes. */
static char *put_string(char *p, const char *text, size_t max)
{
	for (size_t i = 0; i < max && text[i]; i++) {
		uint8_t c = text[i];

		if (c == '"' || c == '\\' || c < 32 || c > 126)
			p = put_hex(put(p, "\\u00"), &c, 1);
		else
			*p++ = c;
	}
	return p;
}

static char *put_number(char *p, uint64_t v)
{
	char digits[20];
	int n = 0;

	do
		digits[n++] = '0' + v % 10;
	while (v /= 10);
	while (n)
		*p++ = digits[--n];
	return p;
}

static char *put_id(char *p, const struct event_json_id *id)
{
	uint8_t run[8];

	for (int i = 0; i < 8; i++)
		run[i] = id->run >> (56 - 8 * i);
	p = put_hex(p, run, sizeof(run));
	*p++ = '-';
	p = put_number(p, id->combo);
	*p++ = '-';
	return put_number(p, id->number);
}

size_t event_json(char line[EVENT_JSON_MAX], const struct module_event *s, const char *sensor,
		  const char *interface, const struct event_json_id *id)
{
	char *p = line;

	p = put_string(put(p, "{\"sensor\": \""), sensor, 31);
	p = put_string(put(p, "\", \"interface\": \""), interface, 15);
	p = put_string(put(p, MODULE_KEY), s->name, MODULE_EVENT_NAME_MAX);
	p = put_number(put(p, "\", \"serial\": "), s->serial);
	p = put_number(put(p, ", \"time_ns\": "), s->time_ns);
	p = put(p, ", \"direction\": \"");
	p = put(p, s->direction == SALUKI_DIRECTION_OUT ? "out" : "in");
	p = put_hex(put(p, "\", \"data\": \""), s->bytes, s->len);
	p = put_id(put(p, "\", \"id\": \""), id);
	p = put(p, "\"}");
	return p - line;
}

bool event_json_module(char name[MODULE_EVENT_NAME_MAX + 1], const char *line, size_t len)
{
	const char *p = memmem(line, len, MODULE_KEY, strlen(MODULE_KEY)), *end;

	if (!p)
		return false;
	p += strlen(MODULE_KEY);
	end = memchr(p, '"', line + len - p);
	if (!end || !module_event_name_is_good(p, end - p))
		return false;
	memcpy(name, p, end - p);
	name[end - p] = 0;
	return true;
}
