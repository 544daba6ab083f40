/* SPDX-License-Identifier: GPL-2.0 */
/* Rate limit: how often in a second something may be done. Zeroed, each is ready. */
#ifndef COLLECTOR_MODEL_RATE_LIMIT_H
#define COLLECTOR_MODEL_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct rate_limit {
	uint32_t second, used; /* CLOCK_MONOTONIC */
};

/* Whether it is done once more in this second, `most` times at most. */
static inline bool rate_limit_takes(struct rate_limit *r, uint32_t most, uint64_t now_ns)
{
	uint32_t second = now_ns / 1000000000;

	if (r->second != second)
		*r = (struct rate_limit){ .second = second };
	if (r->used >= most)
		return false;
	r->used++;
	return true;
}

/* Whether it is done once more: each time takes `step_ns`, and `*until_ns`, up to which all time is
 * taken, is at most `ahead_ns` ahead. */
static inline bool rate_limit_spaced(uint64_t *until_ns, uint64_t step_ns, uint64_t ahead_ns,
				     uint64_t now_ns)
{
	if (*until_ns < now_ns)
		*until_ns = now_ns;
	if (*until_ns + step_ns > now_ns + ahead_ns)
		return false;
	*until_ns += step_ns;
	return true;
}

#endif
