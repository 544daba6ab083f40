/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Merge: takes receptions of many radios, and gives transmissions of the air, by one clock.
 *
 *     merge_take ─▶ clock/radios ─▶ clock/queue ─▶ sweep.h ─▶ air/match ─▶ air/order ─▶ merge_sink
 *                                      │  clock/clocks finds   │               └─▶ air/retained
 *                                      ▼                       ▼
 *                                  the clocks ◀── clock/level corrects
 *
 * A radio's receptions are taken in its own order. Different radios may be far apart.
 */
#ifndef MERGE_SWEEP_MERGE_H
#define MERGE_SWEEP_MERGE_H

#include "state.h"

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
