// SPDX-License-Identifier: GPL-2.0
/* Addresses in texts: see pseudonym_text.h. */
#include "pseudonym_text.h"

#include <ctype.h>

static int digit_value(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10;
}

static bool is_digit(const char *text, size_t len, size_t at)
{
	return at < len && isxdigit((unsigned char)text[at]);
}

/* Reads an address at the begin of `len` bytes. `step`: from a byte to the next one. Returns how
 * many bytes it has, or 0. */
static size_t read_address(uint8_t address[6], const char *text, size_t len, size_t step)
{
	size_t all = 5 * step + 2;

	if (len < all || is_digit(text, len, all))
		return 0;
	for (size_t i = 0; i < 6; i++) {
		const char *p = text + i * step;

		if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1]))
			return 0;
		if (step == 3 && i < 5 && p[2] != ':' && p[2] != '-')
			return 0;
		address[i] = digit_value(p[0]) << 4 | digit_value(p[1]);
	}
	return all;
}

static void write_address(char *text, const uint8_t address[6], size_t step)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < 6; i++) {
		text[i * step] = digits[address[i] >> 4];
		text[i * step + 1] = digits[address[i] & 15];
	}
}

void pseudonym_text(struct pseudonyms *p, char *text, size_t len)
{
	uint8_t address[6];

	for (size_t at = 0; at < len;) {
		size_t step = 2, n = read_address(address, text + at, len - at, step);

		if (!n) {
			step = 3;
			n = read_address(address, text + at, len - at, step);
		}
		if (n) {
			pseudonym_address(p, address, address);
			write_address(text + at, address, step);
		}
		at += n ?: 1;
	}
}
