// SPDX-License-Identifier: GPL-2.0
#include "text.h"

/* Length of the printable character at p[0], 0 if there is none (Unicode 15, table 3-7). */
static size_t character(const uint8_t *p, size_t len)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (n == 1)
		return p[0] >= 0x20 && p[0] < 0x7f && p[0] != '\\';
	if (p[0] < 0xc2 || p[0] > 0xf4 || len < n)
		return 0;
	if (p[0] == 0xc2 || p[0] == 0xe0) /* U+0080 to U+009F are controls; E0 would be overlong */
		low = 0xa0;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xed) /* surrogates */
		high = 0x9f;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (p[i] >> 6 != 2)
			return 0;
	return n;
}

void text_put(struct bytes *out, const char *bytes, size_t len)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0, n; i < len; i += n) {
		uint8_t c = (uint8_t)bytes[i];

		n = character((const uint8_t *)bytes + i, len - i);
		if (n)
			bytes_put(out, bytes + i, n);
		else
			bytes_put(out, (char[]){ '\\', 'x', hex[c >> 4], hex[c & 15] }, 4);
		n += !n;
	}
}
