/* SPDX-License-Identifier: GPL-2.0 */
/* The time of day does not matter for waiting: CLOCK_MONOTONIC, in nanoseconds. For all programs.
 */
#ifndef COMMON_MONOTONIC_H
#define COMMON_MONOTONIC_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

uint64_t clock_ns(clockid_t id);
uint64_t monotonic_ns(void);

/* Returns the timeout until `at_ns` for poll(): milliseconds, rounded up; 0: the time has passed;
 * -1, no timeout, for UINT64_MAX. */
static inline int monotonic_timeout(uint64_t at_ns, uint64_t now_ns)
{
	uint64_t ms = at_ns <= now_ns ? 0 : (at_ns - now_ns) / 1000000 + 1;

	if (at_ns == UINT64_MAX)
		return -1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* Returns the shorter of two such timeouts; -1 is the longest. */
static inline int monotonic_sooner(int a, int b)
{
	return a < 0 ? b : b < 0 || a < b ? a : b;
}

#endif
