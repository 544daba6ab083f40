// SPDX-License-Identifier: GPL-2.0
/* JSON: see json.h. */
#include "json.h"

#include "utf8.h"

void json_string(FILE *f, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	putc('"', f);
	while (*at) {
		int len = utf8_character(at, 4);

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
