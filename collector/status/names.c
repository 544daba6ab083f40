// SPDX-License-Identifier: GPL-2.0
/* Names and times of the table: see print.h. */
#include <string.h>
#include <time.h>

#include "print.h"

#define DAY_US 86400000000ULL

bool status_is_named(const struct status_names *n, const struct board_sensor *s)
{
	for (int i = 0; i < n->count; i++)
		if (!strcmp(n->list[i], s->name) || (*s->group && !strcmp(n->list[i], s->group)))
			return true;
	return !n->count;
}

const char *status_time(char out[32], uint64_t us, uint64_t now_us)
{
	time_t t = us / 1000000;
	struct tm tm;

	if (!localtime_r(&t, &tm) ||
	    !strftime(out, 32, now_us - us < DAY_US ? "%H:%M:%S" : "%Y-%m-%d %H:%M", &tm))
		*out = 0;
	return out;
}
