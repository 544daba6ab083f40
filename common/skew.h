/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Skew: when to log that two clocks differ. Once when they differ by more than a minute, again when
 * the difference has changed by as much, at most once a minute, and when it is over.
 * Both ends have it: each tells of the other's clock.
 */
#ifndef COMMON_SKEW_H
#define COMMON_SKEW_H

#include <stdbool.h>
#include <stdint.h>

struct skew {
	int64_t told_us;  /* 0: that there is none */
	uint64_t told_ns; /* CLOCK_MONOTONIC; 0: nothing was said yet */
};

enum skew_news { SKEW_NOTHING, SKEW_DIFFERS, SKEW_IS_OVER };

/* One of the two is 0, unless a stranger sends them: then they may be anything. */
int64_t skew_ahead_us(uint64_t ahead_us, uint64_t behind_us);

/* Whether a line is due for a difference of `ahead_us`, at CLOCK_MONOTONIC `now_ns`. */
enum skew_news skew_look(struct skew *s, int64_t ahead_us, uint64_t now_ns);

#endif
