// SPDX-License-Identifier: GPL-2.0
/* Values of one sensor, from its record on the board: see print.h. */
#include <arpa/inet.h>
#include <netinet/in.h>
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

uint64_t status_lost(const struct board_sensor *s)
{
	return s->totals.ring_full + s->totals.copy_failed + s->totals.dropped_send +
	       s->totals.dropped_shutdown + s->vanished + s->lost_missing + s->lost_disk +
	       s->lost_refused;
}

const char *status_address(char out[STATUS_ADDRESS_MAX], const struct board_sensor *s)
{
	const struct sockaddr_in *in = (const void *)s->address;
	const struct sockaddr_in6 *in6 = (const void *)s->address;

	*out = 0;
	if (s->address_len >= sizeof(*in) && in->sin_family == AF_INET)
		inet_ntop(AF_INET, &in->sin_addr, out, STATUS_ADDRESS_MAX);
	else if (s->address_len >= sizeof(*in6) && in6->sin6_family == AF_INET6)
		inet_ntop(AF_INET6, &in6->sin6_addr, out, STATUS_ADDRESS_MAX);
	return out;
}

const struct board_sensor *status_earlier(const struct status_states *s, uint32_t i)
{
	const struct board_sensor *b;

	if (i >= s->before.collector.sensors)
		return NULL;
	b = &s->before.sensors[i];
	return b->id == s->now.sensors[i].id && b->runs == s->now.sensors[i].runs ? b : NULL;
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

enum status_trouble status_trouble(const struct board_sensor *now,
				   const struct board_sensor *before)
{
	if (!now->listed)
		return TROUBLE_NONE;
	if (now->balance)
		return TROUBLE_UNBALANCED;
	if (now->presence == BOARD_SILENT)
		return TROUBLE_SILENT;
	if (now->presence == BOARD_NEVER)
		return TROUBLE_NEVER;
	if (now->held)
		return TROUBLE_HELD;
	if (before && status_lost(now) > status_lost(before))
		return TROUBLE_LOSING;
	return now->presence == BOARD_ENDED ? TROUBLE_ENDED : TROUBLE_NONE;
}
