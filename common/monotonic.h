/* SPDX-License-Identifier: GPL-2.0 */
/* The time of day does not matter for waiting: CLOCK_MONOTONIC, in nanoseconds. For all programs.
 */
#ifndef COMMON_MONOTONIC_H
#define COMMON_MONOTONIC_H

#include <stdint.h>
#include <time.h>

uint64_t clock_ns(clockid_t id);
uint64_t monotonic_ns(void);

#endif
