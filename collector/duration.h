/* SPDX-License-Identifier: GPL-2.0 */
/* A time as people write it, a whole number with its unit: 500us, 250ms, 30s, 5m, 1h. */
#ifndef COLLECTOR_DURATION_H
#define COLLECTOR_DURATION_H

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define DURATION_UNITS "us, ms, s, m or h"
#define DURATION_MAX_US 86400000000ULL /* a day */

/* Returns 0 with microseconds, or -EINVAL: it is none, or longer than a day. */
static inline int duration_us(const char *text, uint64_t *us)
{
	static const struct {
		const char *name;
		uint64_t us;
	} units[] = { { "us", 1 },
		      { "ms", 1000 },
		      { "s", 1000000 },
		      { "m", 60000000 },
		      { "h", 3600000000ULL } };
	const char *at = text;
	uint64_t n = 0;

	for (; *at >= '0' && *at <= '9' && n <= DURATION_MAX_US; at++)
		n = n * 10 + (*at - '0');
	for (size_t i = 0; at > text && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(at, units[i].name) || n > DURATION_MAX_US / units[i].us)
			continue;
		*us = n * units[i].us;
		return 0;
	}
	return -EINVAL;
}

#endif
