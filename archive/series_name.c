// SPDX-License-Identifier: GPL-2.0
/* Series name: see series_name.h. */
#include "series_name.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

unsigned int series_number(const char *name)
{
	const char *base = base_of(name), *dot = strrchr(base, '.');
	const char *at = dot ?: base + strlen(base);
	unsigned long number;
	char *end;

	for (int i = 0; i < 2; i++) {
		const char *behind = at;

		while (at > base && isdigit((unsigned char)at[-1]))
			at--;
		if (at == behind || at == base || at[-1] != '_')
			return 0;
		number = behind - at == SERIES_STAMP ? ULONG_MAX : strtoul(at, &end, 10);
		if (number < UINT_MAX)
			return number;
		at--; /* the number is before the stamp */
	}
	return 0;
}

/* Names with times may not be in the order of their numbers, as after a change of the clock. A file
 * and its index are the same one. */
int series_compare(const char *a, const char *b)
{
	unsigned int number_a = series_number(a), number_b = series_number(b);
	const char *base_a = base_of(a), *base_b = base_of(b);
	const char *end_a = strrchr(base_a, '.'), *end_b = strrchr(base_b, '.');

	if (number_a && number_b && number_a != number_b)
		return number_a < number_b ? -1 : 1;
	if (number_a && end_a && end_b && end_a - base_a == end_b - base_b &&
	    !memcmp(base_a, base_b, end_a - base_a))
		return 0;
	return strverscmp(base_a, base_b);
}
