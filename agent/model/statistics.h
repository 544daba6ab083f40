/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics: the numbers that `saluki status` prints, in memory shared by both processes. control/
 * writes them, status/ reads them. The privileged process trusts no other memory of the
 * unprivileged one.
 */
#ifndef AGENT_MODEL_STATISTICS_H
#define AGENT_MODEL_STATISTICS_H

#include <stdint.h>

#include "capture_options.h"
#include "wire/totals.h"

/* How an interface is sampled, for status. */
struct sampler_view {
	uint16_t mhz, width, center; /* current channel; 0: not known */
	uint8_t entries;	     /* of the plan; 0: no plan */
	uint8_t how;		     /* SAMPLER_ */
};
enum {
	SAMPLER_PROPORTIONAL = 1,
	SAMPLER_ORDERED = 2, /* by the collector */
	SAMPLER_SHARED = 4,  /* shared with others, on a grid */
	SAMPLER_FOCUSED = 8,
	SAMPLER_DEAF = 16, /* on all its channels, or one */
};
_Static_assert(sizeof(struct sampler_view) == 8, "two words: common/changes.h");

struct statistics {
	struct totals totals;
	uint64_t at_ns; /* CLOCK_MONOTONIC of the last write */
	uint64_t session_up;
	uint64_t collector_key; /* the first 8 bytes of its public key, as they are */
	int32_t level;		/* the compression's present one (wire/compress.h) */
	uint32_t level_is_auto;
	struct sampler_view radios[INTERFACES_MAX];
};

struct shared_statistics {
	struct statistics news;
	unsigned int changes; /* of them: common/changes.h */
};

#endif
