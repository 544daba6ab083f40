/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Merge: takes receptions of many radios, and gives transmissions of the air, by one clock.
 *
 *     merge_take ─▶ clock/radios ─▶ clock/queue ─▶ sweep ─▶ air/match ─▶ air/order ─▶ merge_sink
 *                                      │  clock/clocks finds   │               └─▶ air/retained
 *                                      ▼                       ▼
 *                                  the clocks ◀── clock/level corrects
 *
 * A radio's receptions are taken in its own order. Different radios may be far apart.
 */
#ifndef MERGE_MERGE_H
#define MERGE_MERGE_H

#include "air/match.h"
#include "air/order.h"
#include "clock/clocks.h"
#include "clock/earliest.h"
#include "clock/level.h"
#include "clock/radios.h"

/* The taker of the result. The transmission is the sink's until it returns. Returns 0 or -errno,
 * which ends the merge. */
struct merge_sink {
	int (*take)(void *context, const struct transmission *t);
	void *context;
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

/* Returns 0 or -ENOMEM. */
int merge_init(struct merge *m, const struct merge_sink *sink);
void merge_free(struct merge *m);
/* Makes a radio of a sensor. Returns its index, or -ENOMEM. */
int64_t merge_add_radio(struct merge *m, uint32_t sensor, uint8_t number);
/* Takes a reception of `radio`. Its own_ns is set here. Returns 0 or -ENOMEM. */
int merge_take(struct merge *m, struct reception *r);
/* The sensor's radios have nothing more before this stamp. */
void merge_nothing_before(struct merge *m, uint32_t sensor, int64_t stamp_ns);
/* The sensor has read its clocks (clock/own.h), in the order of its stamps. */
void merge_reading(struct merge *m, uint32_t sensor, int64_t monotonic_ns, int64_t difference_ns,
		   int64_t raw_ns);
/* The sensor's stamps were `ahead_ns` ahead of the collector's clock at this time, within half of
 * the round trip. */
void merge_ahead(struct merge *m, uint32_t sensor, int64_t ahead_ns, int64_t round_trip_ns,
		 int64_t at_ns);
/* The sensor begins a new run: its clock may be another. */
void merge_new_run(struct merge *m, uint32_t sensor);
/* More of the run before comes, which was not the last of it. */
void merge_run_before(struct merge *m, uint32_t sensor);
/* Nothing more comes of the sensor. */
void merge_ended(struct merge *m, uint32_t sensor);
/* Goes on as far as it is safe. Returns 0 or what a function said. */
int merge_sweep(struct merge *m);
/* Nothing more comes at all. */
int merge_finish(struct merge *m);

#endif
