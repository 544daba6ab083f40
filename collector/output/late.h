/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Late: the gaps in a sensor's latest runs, with --source. A combo may come into the log behind
 * later ones. In: combos that were passed over. Out: whether a late combo fills a gap, so that it
 * is no repetition. Always holds: at most LATE_GAPS per sensor; a further one replaces the oldest,
 * whose combos are then taken for repetitions.
 *
 * The source has the present gaps. With each write, they go to written.h, and from there to the
 * state file, so that a restart forgets none.
 */
#ifndef COLLECTOR_OUTPUT_LATE_H
#define COLLECTOR_OUTPUT_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/put.h"

#define LATE_GAPS 16

struct late_gap {
	uint64_t run;
	uint64_t from, to;   /* counts, without `to` */
	uint64_t first, end; /* the run's frames in these combos, without `end` */
	bool earlier;	     /* the ledger has the frames as `earlier`, not as missing */
};

struct late {
	bool changed; /* since they went to written.h */
	unsigned int count;
	struct late_gap of[LATE_GAPS];
};

/* Removes all gaps of a run. */
void late_forget(struct late *l, uint64_t run);
void late_add(struct late *l, const struct late_gap *g);
/* Returns the gap that the combo belongs to, or NULL. */
struct late_gap *late_find(struct late *l, const struct put_name *n);
/* Removes the combo from its gap. */
void late_fill(struct late *l, struct late_gap *g, const struct put_name *n);

#endif
