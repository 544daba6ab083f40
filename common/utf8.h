/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stddef.h>

/* Returns the bytes of the UTF-8 character at `text` (RFC 3629), or 0 if there is none. It reads at
 * most `room` bytes, at least 1, and none after a NUL. */
static inline int utf8_character(const unsigned char *text, size_t room)
{
	unsigned int c = *text, value;
	int len = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	if (len < 2 || (size_t)len > room)
		return len < 2 ? len : 0;
	value = c & (0x7f >> len);
	for (int i = 1; i < len; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (text[i] & 0x3f);
	}
	return value < least[len] || value > 0x10ffff || (value >> 11) == 0x1b ? 0 : len;
}

#endif
