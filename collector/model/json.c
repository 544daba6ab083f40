// SPDX-License-Identifier: GPL-2.0
/* JSON: see json.h. */
#include "json.h"

void json_string(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', f);
		if ((unsigned char)*text < 32)
			fprintf(f, "\\u%04x", *text);
		else
			putc(*text, f);
	}
	putc('"', f);
}
