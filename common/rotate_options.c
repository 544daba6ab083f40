// SPDX-License-Identifier: GPL-2.0
/* The options of a series of files: see rotate_options.h. */
#include "rotate_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "log.h"
#include "options.h"

#define ROTATE_BYTES_MIN 1000000ULL
#define ROTATE_BYTES_MAX 1000000000000ULL
#define ROTATE_S_MAX 31536000

/* Millions of bytes, or a number with a suffix K, M or G, as in tcpdump. */
int rotate_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "kmgKMG";
	char *end;
	unsigned long long n = strtoull(text, &end, 10), factor = 1000000;
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (unit)
		factor = 1ULL << 10 * ((unit - units) % 3 + 1);
	if (*text < '0' || *text > '9' || end[unit != NULL] || n > ROTATE_BYTES_MAX / factor ||
	    n * factor < ROTATE_BYTES_MIN) {
		log_line("--rotate-size %s: must be a whole number from 1 to 1000000, in millions "
			 "of bytes, or with a suffix K, M or G, in powers of 1024",
			 text);
		return -EINVAL;
	}
	*bytes = n * factor;
	return 0;
}

/* Seconds, or a number with a unit. */
int rotate_time(const char *text, uint32_t *seconds)
{
	size_t len = strlen(text), digits = strspn(text, "0123456789");
	char with_unit[16];
	uint64_t us = 0;

	if (digits == len && len < sizeof(with_unit) - 1) {
		snprintf(with_unit, sizeof(with_unit), "%ss", text);
		text = with_unit;
		len++;
	}
	if (duration_us(text, len, ROTATE_S_MAX * 1000000ULL, &us) || !us || us % 1000000) {
		log_line("--rotate-time %.*s: must be a whole number from 1 to 31536000, in "
			 "seconds, or a time in whole seconds such as 60s, 10m or 1h",
			 (int)(len - (text == with_unit)), text);
		return -EINVAL;
	}
	*seconds = us / 1000000;
	return 0;
}

int rotate_count(const char *text, uint32_t *count)
{
	long value;
	int err = options_number("--rotate-count", text, 2, 100000, &value);

	*count = err ? 0 : value;
	return err;
}

const char *rotate_wrong(const char *write, bool begins, bool counts)
{
	if (!*write)
		return "-w '': must be a file, a directory, or - for standard output";
	if (begins && !strcmp(write, "-"))
		return "-C and -G do not go with -w -: standard output cannot be rotated";
	if (counts && !begins)
		return "-W COUNT needs -C SIZE or -G TIME, which begin a new file";
	return NULL;
}
