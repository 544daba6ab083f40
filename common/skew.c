// SPDX-License-Identifier: GPL-2.0
/* Skew: see skew.h. */
#include "skew.h"

#define SKEW_US 60000000
#define SKEW_AGAIN_NS 60000000000ULL

int64_t skew_ahead_us(uint64_t ahead_us, uint64_t behind_us)
{
	const uint64_t most = INT64_MAX / 4;

	return (int64_t)(ahead_us < most ? ahead_us : most) -
	       (int64_t)(behind_us < most ? behind_us : most);
}

enum skew_news skew_look(struct skew *s, int64_t ahead_us, uint64_t now_ns)
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
