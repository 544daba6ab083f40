// SPDX-License-Identifier: GPL-2.0
/* Addresses in texts: see pseudonym_text.h. */
#include "pseudonym_text.h"

#include <ctype.h>
#include <string.h>

#define DIGITS 12 /* of an address */

/* ---- digits ---------------------------------------------------------------------------------- */

static bool is_digit(const char *text, size_t len, size_t at)
{
	return at < len && isxdigit((unsigned char)text[at]);
}

/* Whether this byte, which is no digit, stands between two digits that belong together. */
static bool separates(const char *text, size_t len, size_t at)
{
	return at && at < len && text[at] && strchr(":-_.", text[at]) &&
	       is_digit(text, len, at - 1) && is_digit(text, len, at + 1);
}

static unsigned int count_digits(const char *text, size_t from, size_t to)
{
	unsigned int count = 0;

	for (; from < to; from++)
		count += is_digit(text, to, from);
	return count;
}

/* Where the last 12 digits before `to` begin. */
static size_t last_digits(const char *text, size_t to)
{
	for (unsigned int left = DIGITS; left; to--)
		left -= is_digit(text, to, to - 1);
	return to;
}

static int digit_value(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10;
}

/* ---- addresses ------------------------------------------------------------------------------- */

struct written {
	uint8_t bytes[6];
	bool is_upper; /* its first letter is */
};

/* Reads 12 digits, over what is between them. */
static struct written read_address(const char *text)
{
	struct written a = { .is_upper = false };
	bool has_letter = false;

	for (unsigned int i = 0; i < DIGITS; text++) {
		if (!isxdigit((unsigned char)*text))
			continue;
		if (!has_letter && isalpha((unsigned char)*text)) {
			has_letter = true;
			a.is_upper = isupper((unsigned char)*text);
		}
		a.bytes[i / 2] = a.bytes[i / 2] << 4 | digit_value(*text);
		i++;
	}
	return a;
}

/* Writes the pseudonym to the places of 12 digits. Returns the end. */
static char *write_pseudonym(struct pseudonyms *p, char *text, struct written a)
{
	const char *digits = a.is_upper ? "0123456789ABCDEF" : "0123456789abcdef";

	pseudonym_address(p, a.bytes, a.bytes);
	for (unsigned int i = 0; i < DIGITS; text++) {
		if (!isxdigit((unsigned char)*text))
			continue;
		*text = digits[a.bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
		i++;
	}
	return text;
}

/* Replaces 12 digits or more: all but the last 12 get what fits of the pseudonyms of the 12 that
 * begin there. */
static void replace(struct pseudonyms *p, char *text, size_t from, size_t to)
{
	char *at = text + from, *last = text + last_digits(text, to);
	struct written end = read_address(last);

	for (unsigned int n = count_digits(text, from, to); n > DIGITS; n -= DIGITS)
		at = write_pseudonym(p, at, read_address(at));
	write_pseudonym(p, last, end);
}

/* ---- forms ----------------------------------------------------------------------------------- */

/* Returns the end of an address with groups of so many digits, or 0. */
static size_t grouped(const char *text, size_t len, size_t at, unsigned int group)
{
	size_t first = at + group; /* separator */

	for (unsigned int i = 0; i < DIGITS; i++, at++) {
		if (i && i % group == 0) {
			if (!separates(text, len, at) || text[at] != text[first])
				return 0;
			at++;
		}
		if (!is_digit(text, len, at))
			return 0;
	}
	return is_digit(text, len, at) ? 0 : at;
}

static size_t address_end(const char *text, size_t len, size_t at)
{
	return grouped(text, len, at, 12) ?: grouped(text, len, at, 2) ?:
	       grouped(text, len, at, 4) ?: grouped(text, len, at, 6);
}

/* The end of this address and of those that overlap with it. */
static size_t addresses_end(const char *text, size_t len, size_t at)
{
	size_t end = address_end(text, len, at);

	while (++at < end) {
		size_t other = address_end(text, len, at);

		end = other > end ? other : end;
	}
	return end;
}

/* Digits that are left beside addresses. */
static void replace_rest(struct pseudonyms *p, char *text, size_t from, size_t to)
{
	if (count_digits(text, from, to) >= DIGITS)
		replace(p, text, from, to);
}

void pseudonym_text(struct pseudonyms *p, char *text, size_t len)
{
	size_t rest = 0, at = 0;

	while (at < len) {
		size_t end = addresses_end(text, len, at);

		if (end) {
			replace_rest(p, text, rest, at);
			replace(p, text, at, end);
			rest = at = end;
		} else if (is_digit(text, len, at) || separates(text, len, at)) {
			at++;
		} else {
			replace_rest(p, text, rest, at);
			rest = ++at;
		}
	}
	replace_rest(p, text, rest, len);
}
