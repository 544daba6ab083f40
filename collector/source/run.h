/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Run: a sensor's present run in the log. In: names of combos and totals. Out: where a run
 * continues, to take.c; runs, to combo/runs.h; totals, to the ledger. Final totals stand behind all
 * combos of their run, except late ones.
 */
#ifndef COLLECTOR_SOURCE_RUN_H
#define COLLECTOR_SOURCE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "roster.h"
#include "wire/put.h"
#include "wire/totals.h"

struct combos;

/* Where a run continues. */
struct run_place {
	bool known; /* some of it was taken before, perhaps by an earlier process */
	uint64_t next, accounted;
};

/* Finds a run's place. Returns false if the disk must have room for the buffer first. */
bool run_find(struct combos *c, const struct sensor *s, uint64_t run, struct run_place *at);
/* Switches to a run, after run_find. */
void run_switch(struct combos *c, struct roster_entry *e, uint64_t run, const struct run_place *at);
/* The log begins amid the present run: this combo is the first one. Until combos before it come
 * late, their frames are `earlier`. */
void run_first(struct combos *c, struct roster_entry *e, const struct put_name *n);

/* Call it before a combo. If final totals came, sets `final`, and returns true: then call
 * run_close_again behind the combo, which is late, or another agent's. */
bool run_reopen(struct sensor *s, struct totals *final);
void run_close_again(struct sensor *s, const struct totals *final);
/* Whether totals are older than what was taken. Those of an ended run must not switch back to it.
 */
bool run_totals_old(const struct sensor *s, uint64_t run, const struct run_place *at,
		    const struct totals *t);
/* Takes totals of the present run. */
void run_totals(struct sensor *s, const struct totals *t);

#endif
