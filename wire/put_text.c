// SPDX-License-Identifier: GPL-2.0
/* Put text: see put_text.h. */
#include "put_text.h"

#include <stdlib.h>
#include <string.h>

void put_text_copy(char *out, size_t size, const char *text, size_t len)
{
	size_t n = len < size - 1 ? len : size - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : ' ';
	out[n] = 0;
}

void put_text_value(const char *text, size_t len, const char *key, char *out, size_t size)
{
	size_t key_len = strlen(key);

	out[0] = 0;
	for (size_t at = 0, n; at < len; at += n + 1) {
		const char *line = text + at, *end = memchr(line, '\n', len - at);

		n = end ? (size_t)(end - line) : len - at;
		if (n <= key_len || memcmp(line, key, key_len) != 0 || line[key_len] != '=')
			continue;
		put_text_copy(out, size, line + key_len + 1, n - key_len - 1);
		return;
	}
}

uint64_t put_text_number(const char *text, size_t len, const char *key)
{
	char value[24];

	put_text_value(text, len, key, value, sizeof(value));
	return strtoull(value, NULL, 10);
}
