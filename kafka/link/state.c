// SPDX-License-Identifier: GPL-2.0
/* State: see state.h. */
#include "state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"

#define INTERVAL_NS 1000000000ULL

void state_begin(struct state *s, const char *why)
{
	*s->text = 0;
	if (why)
		state_add(s, "why=%.600s", why);
}

/* A line that has no room is left out whole. */
void state_add(struct state *s, const char *fmt, ...)
{
	size_t len = strlen(s->text), room = sizeof(s->text) - 1 - len;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(s->text + len, room, fmt, args);
	va_end(args);
	if (n < 0 || (size_t)n + 1 >= room) {
		s->text[len] = 0;
		return;
	}
	log_clean(s->text + len);
	strcat(s->text, "\n");
}

void state_send(struct state *s, struct collector *c, bool now, uint64_t now_ns)
{
	uint8_t out[1 + PUT_TEXT_MAX] = { PUT_STATE };
	size_t len = strlen(s->text);
	bool fresh = s->connection != c->connections;

	if (c->fd < 0 || !c->greeted)
		return;
	if (!fresh && !(now && strcmp(s->text, s->sent)) && now_ns - s->sent_ns < INTERVAL_NS)
		return;
	memcpy(out + 1, s->text, len);
	if (collector_send(c, out, 1 + len)) /* the next one comes in a second */
		return;
	strcpy(s->sent, s->text);
	s->sent_ns = now_ns;
	s->connection = c->connections;
}
