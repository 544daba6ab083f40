/* SPDX-License-Identifier: GPL-2.0 */
/* Rate limit: limits how often an action may happen. All zeros is the initial state. */
#ifndef COLLECTOR_MODEL_RATE_LIMIT_H
#define COLLECTOR_MODEL_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct rate_limit {
	uint32_t second, used; /* CLOCK_MONOTONIC */
};

/* Returns whether the action may happen once more in this second, with `most` as the limit. */
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

/* Returns whether the action may happen once more. Each moves `*until_ns` on by `step_ns`, to at
 * most `ahead_ns` after now. */
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
