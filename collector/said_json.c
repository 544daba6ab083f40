// SPDX-License-Identifier: GPL-2.0
/* What modules have said: see said_json.h. */
#include "said_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <saluki/record.h>

#include "wire/info.h"

#define ULL(x) ((unsigned long long)(x))

int said_of(struct said *s, const struct combo_event *e)
{
	if (e->type != COMBO_EVENT_SAID || said_read(s, e->bytes, e->len) ||
	    s->interface >= INFO_INTERFACES_MAX)
		return -EBADMSG;
	return 0;
}

/* Names of interfaces may hold anything but blanks and slashes. */
static char *put_string(char *p, const char *text, size_t max)
{
	for (size_t i = 0; i < max && text[i]; i++) {
		unsigned char c = text[i];

		p += sprintf(p, c == '"' || c == '\\' || c < 32 || c > 126 ? "\\u%04x" : "%c", c);
	}
	return p;
}

void said_json(char line[SAID_JSON_MAX], const struct said *s, const char *sensor,
	       const char *interface)
{
	char *p = line;

	p += sprintf(p, "{\"sensor\": \"");
	p = put_string(p, sensor, 31);
	p += sprintf(p, "\", \"interface\": \"");
	p = put_string(p, interface, 15);
	p += sprintf(p,
		     "\", \"module\": \"%s\", \"serial\": %llu, \"time_ns\": %llu, "
		     "\"direction\": \"%s\", \"data\": \"",
		     s->name, ULL(s->serial), ULL(s->time_ns),
		     s->direction == SALUKI_DIRECTION_OUT ? "out" : "in");
	for (unsigned int i = 0; i < s->len; i++)
		p += sprintf(p, "%02x", s->bytes[i]);
	strcpy(p, "\"}");
}
