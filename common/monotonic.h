/* SPDX-License-Identifier: GPL-2.0 */
/* The time of day does not matter for waiting: CLOCK_MONOTONIC, in nanoseconds. */
#ifndef COMMON_MONOTONIC_H
#define COMMON_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static inline uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
