// SPDX-License-Identifier: GPL-2.0
/* Screen: see screen.h. */
#include "screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define ESCAPE_LEN 8 /* "\u009b" */

void screen_init(struct screen *s, int fd, bool utf8)
{
	s->fd = fd;
	s->utf8 = utf8;
	s->err = 0;
	s->have = s->want = 0;
	s->len = 0;
}

bool screen_locale_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

int screen_flush(struct screen *s)
{
	size_t at = 0;

	while (at < s->len && !s->err) {
		ssize_t n = write(s->fd, s->text + at, s->len - at);

		if (n >= 0)
			at += n;
		else if (errno != EINTR)
			s->err = -errno;
	}
	s->len = 0;
	return s->err;
}

static void screen_put(struct screen *s, const void *bytes, size_t len)
{
	if (s->len + len > SCREEN_LEN)
		screen_flush(s);
	memcpy(s->text + s->len, bytes, len);
	s->len += len;
}

static void screen_escape(struct screen *s, const char *fmt, unsigned int value)
{
	char text[ESCAPE_LEN + 1];
	int len = snprintf(text, sizeof(text), fmt, value);

	screen_put(s, text, len);
}

static bool is_control(unsigned int c)
{
	return c < 0xa0			       /* C1 */
	       || c == 0x061c		       /* the direction of text (Unicode, UAX 9), */
	       || (c >= 0x200e && c <= 0x200f) /* which can show text in another order */
	       || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       (c >= 0x2028 && c <= 0x2029); /* ends of lines and of paragraphs */
}

/* The sequence is complete, and its length is right for its first byte. */
static void screen_character(struct screen *s)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int c = s->sequence[0] & (0x7f >> s->want);

	for (unsigned int i = 1; i < s->want; i++)
		c = c << 6 | (s->sequence[i] & 0x3f);
	if (c < least[s->want] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		for (unsigned int i = 0; i < s->want; i++)
			screen_escape(s, "\\x%02x", s->sequence[i]);
	else if (is_control(c))
		screen_escape(s, "\\u%04x", c);
	else
		screen_put(s, s->sequence, s->want);
	s->have = s->want = 0;
}

/* Ends a sequence that is not complete. */
static void screen_broken(struct screen *s)
{
	for (unsigned int i = 0; i < s->have; i++)
		screen_escape(s, "\\x%02x", s->sequence[i]);
	s->have = s->want = 0;
}

static void screen_first(struct screen *s, uint8_t c)
{
	if (c < 0x80) {
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			screen_escape(s, "\\x%02x", c);
		else
			screen_put(s, &c, 1);
		return;
	}
	s->want = !s->utf8 ? 0 : c >= 0xf8 ? 0 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 0;
	if (s->want)
		s->sequence[s->have++] = c;
	else
		screen_escape(s, "\\x%02x", c);
}

void screen_add(struct screen *s, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint8_t c = bytes[i];

		if (s->want && (c & 0xc0) != 0x80)
			screen_broken(s);
		if (!s->want) {
			screen_first(s, c);
			continue;
		}
		s->sequence[s->have++] = c;
		if (s->have == s->want)
			screen_character(s);
	}
}
