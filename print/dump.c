// SPDX-License-Identifier: GPL-2.0
/* Bytes: see dump.h. */
#include "dump.h"

#include <stdio.h>
#include <string.h>

#define ROW 16
#define ROW_LEN 80 /* "\t0x0000:  ", 8 words of 5, and 16 characters */

static char visible(uint8_t c)
{
	return c > 0x20 && c < 0x7f ? c : '.';
}

static void hex_row(struct screen *s, unsigned int at, const uint8_t *p, unsigned int n, bool text)
{
	char row[ROW_LEN];
	int len = snprintf(row, sizeof(row), "\n\t0x%04x: ", at);

	for (unsigned int i = 0; i < n; i++)
		len += snprintf(row + len, sizeof(row) - len, "%s%02x", i % 2 ? "" : " ", p[i]);
	screen_add(s, row, len);
	if (!text)
		return;
	len = snprintf(row, sizeof(row), "%*s", (int)((ROW - n) / 2 * 5 + n % 2 * 2 + 2), "");
	for (unsigned int i = 0; i < n; i++)
		row[len++] = visible(p[i]);
	screen_add(s, row, len);
}

static void hex(struct screen *s, const uint8_t *p, unsigned int len, bool text)
{
	for (unsigned int at = 0; at < len; at += ROW)
		hex_row(s, at, p + at, len - at < ROW ? len - at : ROW, text);
}

static void ascii(struct screen *s, const uint8_t *p, unsigned int len)
{
	screen_add(s, "\n", 1);
	for (unsigned int i = 0; i < len; i++) {
		char c = p[i] == '\n' || p[i] == '\t' || p[i] == ' ' ? p[i] : visible(p[i]);

		if (p[i] != '\r')
			screen_add(s, &c, 1);
	}
}

void dump_frame(struct screen *s, const struct print_options *o, const uint8_t *data,
		unsigned int len, unsigned int behind)
{
	unsigned int most = o->hex_text ? o->hex_text : o->hex;
	unsigned int from = most > 1 ? 0 : behind;

	if (most)
		hex(s, data + from, len - from, o->hex_text);
	else if (o->ascii)
		ascii(s, data + from, len - from);
}
