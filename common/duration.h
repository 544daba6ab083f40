/* SPDX-License-Identifier: GPL-2.0 */
/* A time as people write it, a whole number with its unit: 500us, 250ms, 30s, 5m, 1h; and as it is
 * printed for them: "250 ms", "3 min", "2 days". The sensor's dwells and the collector's orders. */
#ifndef COMMON_DURATION_H
#define COMMON_DURATION_H

#include <stddef.h>
#include <stdint.h>

#define DURATION_UNITS "us, ms, s, m or h"
#define DURATION_DAY_US 86400000000ULL

/* Returns 0 with microseconds, or -EINVAL if the text is malformed, or longer than `max_us`, a year
 * at most. */
int duration_us(const char *text, size_t len, uint64_t max_us, uint64_t *us);

#define DURATION_TEXT_LEN 32

/* Writes it in the largest unit of which there are two or more, rounded. Returns `out`. */
const char *duration_text(char out[DURATION_TEXT_LEN], uint64_t us);

#endif
