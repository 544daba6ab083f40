/* SPDX-License-Identifier: GPL-2.0 */
/* A time as people write it, a whole number with its unit: 500us, 250ms, 30s, 5m, 1h; and as it is
 * printed for them: "250 ms", "3 min", "2 days". */
#ifndef COMMON_DURATION_H
#define COMMON_DURATION_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DURATION_UNITS "us, ms, s, m or h"
#define DURATION_DAY_US 86400000000ULL

/* Microseconds; 0: it is none. */
static inline uint32_t duration_unit(const char *text, size_t len)
{
	if (len == 2 && text[1] == 's')
		return *text == 'u' ? 1 : *text == 'm' ? 1000 : 0;
	if (len != 1)
		return 0;
	return *text == 's' ? 1000000 : *text == 'm' ? 60000000 : *text == 'h' ? 3600000000U : 0;
}

/* Returns 0 with microseconds, or -EINVAL: it is none, or longer than `max_us`, a day at most. */
static inline int duration_us(const char *text, size_t len, uint64_t max_us, uint64_t *us)
{
	uint64_t n = 0;
	size_t at = 0;
	uint32_t unit;

	for (; at < len && text[at] >= '0' && text[at] <= '9' && n <= max_us; at++)
		n = n * 10 + (text[at] - '0');
	unit = duration_unit(text + at, len - at);
	if (!at || !unit || n > max_us / unit)
		return -EINVAL;
	*us = n * unit;
	return 0;
}

#define DURATION_TEXT_LEN 32

/* Writes it in the largest unit of which there are two or more, rounded. Returns `out`. */
static inline const char *duration_text(char out[DURATION_TEXT_LEN], uint64_t us)
{
	static const struct {
		uint64_t us;
		const char *name;
	} units[] = { { DURATION_DAY_US, "days" },
		      { 3600000000ULL, "h" },
		      { 60000000, "min" },
		      { 1000000, "s" },
		      { 1000, "ms" },
		      { 1, "us" } };
	size_t i = 0;

	while (i < 5 && us / units[i].us < 2)
		i++;
	snprintf(out, DURATION_TEXT_LEN, "%llu %s",
		 (unsigned long long)(us / units[i].us +
				      (us % units[i].us >= units[i].us / 2 && i < 5)),
		 units[i].name);
	return out;
}

#endif
