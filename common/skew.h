/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Skew: whether it is to be said that two clocks differ. Once when they do by more than a minute,
 * again when the difference has changed by as much, at most once a minute, and when it is over.
 */
#ifndef COMMON_SKEW_H
#define COMMON_SKEW_H

#include <stdbool.h>
#include <stdint.h>

#define SKEW_US 60000000
#define SKEW_AGAIN_NS 60000000000ULL

struct skew {
	int64_t told_us;  /* 0: that there is none */
	uint64_t told_ns; /* CLOCK_MONOTONIC; 0: nothing was said yet */
};

enum skew_news { SKEW_NOTHING, SKEW_DIFFERS, SKEW_IS_OVER };

/* As they are told of: one of the two is 0. Where they are a stranger's, they may be anything. */
static inline int64_t skew_ahead_us(uint64_t ahead_us, uint64_t behind_us)
{
	const uint64_t most = INT64_MAX / 4;

	return (int64_t)(ahead_us < most ? ahead_us : most) -
	       (int64_t)(behind_us < most ? behind_us : most);
}

static inline enum skew_news skew_look(struct skew *s, int64_t ahead_us, uint64_t now_ns)
{
	bool differs = ahead_us > SKEW_US || ahead_us < -SKEW_US;
	int64_t change_us = ahead_us - s->told_us;

	if (!differs && !s->told_us)
		return SKEW_NOTHING;
	if (differs && change_us <= SKEW_US && change_us >= -SKEW_US)
		return SKEW_NOTHING;
	if (!differs) {
		s->told_us = 0;
		return SKEW_IS_OVER;
	}
	if (s->told_ns && now_ns - s->told_ns < SKEW_AGAIN_NS)
		return SKEW_NOTHING;
	s->told_us = ahead_us;
	s->told_ns = now_ns;
	return SKEW_DIFFERS;
}

#endif
