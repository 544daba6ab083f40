/* SPDX-License-Identifier: GPL-2.0 */
/* JSON on standard output: texts that others have chosen. An interface's name may hold anything but
 * blanks and slashes, a filter anything at all. */
#ifndef AGENT_JSON_H
#define AGENT_JSON_H

#include <stdio.h>

/* Prints "key": "text" and a comma, at most `max` bytes of the text. */
static inline void json_string(const char *key, const char *text, size_t max)
{
	printf("\"%s\": \"", key);
	for (size_t i = 0; i < max && text[i]; i++)
		if (text[i] == '"' || text[i] == '\\' || (unsigned char)text[i] < 32 ||
		    (unsigned char)text[i] > 126)
			printf("\\u%04x", (unsigned char)text[i]);
		else
			printf("%.1s", text + i); /* putchar is 460 bytes more */
	printf("\", ");
}

#endif
