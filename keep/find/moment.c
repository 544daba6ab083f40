// SPDX-License-Identifier: GPL-2.0
/* Moment: see moment.h. */
#include "moment.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "common/monotonic.h"

#define SECOND_NS 1000000000LL
#define SECONDS_MAX (INT64_MAX / SECOND_NS - 1)

/* Reads a whole number of seconds and up to nine digits behind a dot. */
static const char *read_seconds(const char *p, int64_t *ns)
{
	int64_t s = 0, unit = SECOND_NS;

	if (!isdigit((unsigned char)*p))
		return NULL;
	for (; isdigit((unsigned char)*p); p++) {
		s = 10 * s + (*p - '0');
		if (s > SECONDS_MAX)
			return NULL;
	}
	*ns = s * SECOND_NS;
	if (*p != '.')
		return p;
	for (p++; isdigit((unsigned char)*p); p++) {
		unit /= 10;
		*ns += unit * (*p - '0');
	}
	return p;
}

static int parse_ago(const char *text, int64_t *ns)
{
	static const char units[] = "smhdw";
	static const int64_t seconds[] = { 1, 60, 3600, 86400, 7 * 86400 };
	const char *end = read_seconds(text, ns), *unit = end && *end ? strchr(units, *end) : NULL;

	if (!unit || end[1] || *ns / SECOND_NS > SECONDS_MAX / seconds[unit - units])
		return -EINVAL;
	*ns = (int64_t)clock_ns(CLOCK_REALTIME) - *ns * seconds[unit - units];
	return 0;
}

static bool same_day(const struct tm *a, const struct tm *b)
{
	return a->tm_year == b->tm_year && a->tm_mon == b->tm_mon && a->tm_mday == b->tm_mday;
}

/* Days that do not exist, such as the 31st of June, are another one for mktime(3). */
static int parse_date(const char *text, int64_t *ns)
{
	struct tm tm = { .tm_isdst = -1 }, given;
	const char *p = strptime(text, "%Y-%m-%d", &tm), *end;
	int64_t seconds_ns = 0;
	time_t t;

	if (!p)
		return -EINVAL;
	if (*p == 'T' || *p == ' ') {
		end = strptime(p + 1, "%H:%M", &tm);
		if (!end)
			return -EINVAL;
		p = *end == ':' ? read_seconds(end + 1, &seconds_ns) : end;
		if (!p || seconds_ns > 60 * SECOND_NS)
			return -EINVAL;
	}
	given = tm;
	t = *p == 'Z' ? timegm(&tm) : mktime(&tm);
	if (p[*p == 'Z'] || !same_day(&given, &tm))
		return -EINVAL;
	if (t > SECONDS_MAX || t < -SECONDS_MAX)
		return -EINVAL;
	*ns = t * SECOND_NS + seconds_ns;
	return 0;
}

int moment_parse(const char *text, int64_t *ns)
{
	if (*text == '@') {
		const char *end = read_seconds(text + 1, ns);

		return end && !*end ? 0 : -EINVAL;
	}
	return parse_date(text, ns) && parse_ago(text, ns) ? -EINVAL : 0;
}
