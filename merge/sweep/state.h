/* SPDX-License-Identifier: GPL-2.0 */
/* State: what a merge has between two calls. */
#ifndef MERGE_SWEEP_STATE_H
#define MERGE_SWEEP_STATE_H

#include "merge/air/match.h"
#include "merge/air/order.h"
#include "merge/air/retained.h"
#include "merge/clock/clocks.h"
#include "merge/clock/earliest.h"
#include "merge/clock/level.h"
#include "merge/clock/radios.h"

/* The taker of the result. The transmission is the sink's until it returns. Returns 0 or -errno,
 * which ends the merge. */
struct merge_sink {
	int (*take)(void *context, const struct transmission *t);
	void *context;
	/* Whether it is left to another merger, which its `left` then says. NULL: none is. */
	bool (*leaves)(void *context, const struct transmission *t);
};

struct merge {
	struct clocks clocks;
	struct level level;
	struct match match;
	struct order order;
	struct merge_sink sink;
	struct earliest earliest;
	struct radios radios;
	struct retained retained;
	int64_t swept_ns;
	int64_t decided_ns; /* transmissions before it are given: receptions before it are late */
	bool rehearses, rehearsed;
	int64_t first_ns;  /* of the rehearsal, */
	uint32_t anchored; /* and parts that there were, then */
	int64_t ahead_ns;  /* the sweep stays behind arrivals, so that steps are found before it */
	int64_t hold_ns;   /* a sensor that is further behind does not hold the sweep */
	int64_t rehearsed_ns; /* of the start, from which clocks learn before the sweep */
	uint64_t set;	      /* clocks, so far */
	uint64_t given;	      /* transmissions */
	uint64_t news;	      /* receptions and reports since the last sweep, */
	uint64_t looked_ns;   /* CLOCK_MONOTONIC of the last one that came with few of them */
	uint64_t retire_at;   /* when so many domains more were left than a few (retire.h) */
};

#endif
