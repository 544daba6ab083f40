// SPDX-License-Identifier: GPL-2.0
/* The text of a line: see text.h. */
#include "text.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

void text_add(struct text *t, const char *fmt, ...)
{
	size_t room = TEXT_LEN - t->len;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->bytes + t->len, room, fmt, args);
	va_end(args);
	t->len += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

void text_mac(struct text *t, const uint8_t *p)
{
	text_add(t, "%02x:%02x:%02x:%02x:%02x:%02x", p[0], p[1], p[2], p[3], p[4], p[5]);
}

void text_ipv4(struct text *t, const uint8_t *p)
{
	text_add(t, "%u.%u.%u.%u", p[0], p[1], p[2], p[3]);
}

void text_ipv6(struct text *t, const uint8_t *p)
{
	char text[INET6_ADDRSTRLEN];

	text_add(t, "%s", inet_ntop(AF_INET6, p, text, sizeof(text)));
}

static bool is_control(uint8_t c)
{
	return c < 0x20 || c == 0x7f;
}

void text_quoted(struct text *t, const uint8_t *bytes, size_t len)
{
	text_add(t, "\"");
	for (size_t i = 0; i < len; i++) {
		if (is_control(bytes[i]))
			text_add(t, "\\x%02x", bytes[i]);
		else
			text_add(t, "%s%c", bytes[i] == '"' || bytes[i] == '\\' ? "\\" : "",
				 bytes[i]);
	}
	text_add(t, "\"");
}

void text_word(struct text *t, const char *word)
{
	for (; *word; word++)
		text_add(t, is_control(*word) ? "\\x%02x" : "%c", (uint8_t)*word);
}
