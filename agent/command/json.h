/* SPDX-License-Identifier: GPL-2.0 */
/* JSON on standard output, with untrusted texts. An interface's name may have any characters except
 * blanks and slashes, a filter any at all. */
#ifndef AGENT_JSON_H
#define AGENT_JSON_H

#include <stdio.h>

/* Prints "key": "text" and a comma, with at most `max` bytes of the text. */
static inline void json_string(const char *key, const char *text, size_t max)
{
	printf("\"%s\": \"", key);
	for (size_t i = 0; i < max && text[i]; i++)
		if (text[i] == '"' || text[i] == '\\' || (unsigned char)text[i] < 32 ||
		    (unsigned char)text[i] > 126)
			printf("\\u%04x", (unsigned char)text[i]);
		else
			printf("%.1s", text + i); /* putchar would take 460 bytes more */
	printf("\", ");
}

#endif
