// SPDX-License-Identifier: GPL-2.0
/* Durations: see duration.h. */
#include "duration.h"

#include <errno.h>
#include <stdio.h>

/* Microseconds; 0: it is none. */
static uint32_t duration_unit(const char *text, size_t len)
{
	if (len == 2 && text[1] == 's')
		return *text == 'u' ? 1 : *text == 'm' ? 1000 : 0;
	if (len != 1)
		return 0;
	return *text == 's' ? 1000000 : *text == 'm' ? 60000000 : *text == 'h' ? 3600000000U : 0;
}

int duration_us(const char *text, size_t len, uint64_t max_us, uint64_t *us)
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

const char *duration_text(char out[DURATION_TEXT_LEN], uint64_t us)
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
