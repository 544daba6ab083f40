// SPDX-License-Identifier: GPL-2.0
/* JSON: see json.h. */
#include "json.h"

/* Returns the bytes of the UTF-8 character at `text` (RFC 3629), or 0 if there is none. */
static int character(const unsigned char *text)
{
	unsigned int c = *text, value;
	int len = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	if (len < 2)
		return len;
	value = c & (0x7f >> len);
	for (int i = 1; i < len; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (text[i] & 0x3f);
	}
	return value < least[len] || value > 0x10ffff || (value >> 11) == 0x1b ? 0 : len;
}

void json_string(FILE *f, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	putc('"', f);
	while (*at) {
		int len = character(at);

		if (!len)
			fprintf(f, "\\ufffd");
		else if (*at < 32 || *at == 127)
			fprintf(f, "\\u%04x", *at);
		else if (*at == '"' || *at == '\\')
			fprintf(f, "\\%c", *at);
		else
			fwrite(at, 1, len, f);
		at += len ? len : 1;
	}
	putc('"', f);
}
