// SPDX-License-Identifier: GPL-2.0
/* Space: see space.h. */
#include "space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

#define PERCENT_MAX 99

uint64_t space_of(const struct space *s, uint64_t size)
{
	uint64_t part = size / 100 * s->percent;

	return s->percent && part < s->bytes ? part : s->bytes;
}

int space_parse(const char *flag, const char *text, struct space *s)
{
	static const char units[] = "KMGT";
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	unsigned int shift = unit ? 10 * (unit - units + 1) : 0;

	if (*text >= '0' && *text <= '9' && !strcmp(end, "%") && n <= PERCENT_MAX) {
		*s = (struct space){ .bytes = n ? UINT64_MAX : 0, .percent = n };
		return 0;
	}
	end += unit ? 1 : 0;
	if (*text < '0' || *text > '9' || *end || n > (unsigned long long)INT64_MAX >> shift) {
		log_line("%s %s: must be a size such as 500M or 2G, or a percentage from 0%% to "
			 "%d%%",
			 flag, text, PERCENT_MAX);
		return -EINVAL;
	}
	*s = (struct space){ .bytes = n << shift };
	return 0;
}
