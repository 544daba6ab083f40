/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ledger: compares a sensor's totals (wire/totals.h) with the frames that arrived and were written
 * here.
 *
 *     seen = filtered + ring_full + copy_failed + captured             the sensor's word
 *     captured = exported + dropped_send + dropped_shutdown + in_ring + vanished
 *                                                                      the sensor's word
 *     exported = earlier + written + lost_missing + lost_disk + lost_refused + in flight
 *                                                                      counted here
 *
 * Each combo has the number of frames that the run exported before it, and a sensor that gives
 * combos up reports their end (FLOOR), so gaps are counted exactly. `earlier`: frames that a run
 * exported before its first message to this collector process. Another agent process may continue a
 * run, after final totals (the frames left to it are `in_ring`) or without them. If a run ends
 * without final totals, the frames captured and not exported are `vanished`. Ended runs are added
 * up. Two processes with one key may take the session from each other repeatedly: the last
 * LEDGER_PAST ended runs are kept, and can continue. `balance` is 0 if every frame is accounted
 * for.
 */
#ifndef COLLECTOR_MODEL_LEDGER_H
#define COLLECTOR_MODEL_LEDGER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "wire/totals.h"

#define LEDGER_PAST 3

struct ledger_run {
	uint64_t accounted; /* frames of the run up to the end of the last combo */
	uint64_t written, lost_disk, lost_missing;
	uint64_t lost_refused; /* arrived, refused by frame_check.h */
	uint64_t tail;	       /* part of lost_missing: not arrived when the run was closed */
	uint64_t vanished;     /* captured, lost with a sensor without final totals */
	uint64_t earlier;      /* exported before the run's first message here */
	uint64_t unheard; /* gone before its first message here, or while another collector had the
			   * sensor: `earlier`, except the frames that the sensor gave up */
	bool known;	  /* `earlier` is from the files: no frame is `unheard` */
	uint64_t quiet;	  /* `accounted` before the first combo here, or since ledger_run_moved */
	struct totals sensor; /* its last totals */
};

/* Ended runs, the newest first, in their state just before the end. */
struct ledger_past {
	struct {
		uint64_t run; /* its id */
		struct ledger_run at_end;
	} runs[LEDGER_PAST];
	unsigned int count;
};

struct ledger {
	uint64_t run; /* the present run's id */
	uint64_t runs;
	uint64_t pending; /* frames in the output's buffer, set by output.c */
	uint64_t received_bytes;
	struct ledger_run now, before; /* the present run; the sum of the ended ones */
	struct ledger_past *past;      /* NULL: no run has ended yet, or no memory */
	/* errors in authentic messages */
	uint64_t bad_combos, bad_pieces, bad_messages, duplicate_pieces;
	uint64_t bad_events, unknown_events; /* in combos; ignored */
	uint64_t module_events;		     /* in combos */
};

/* Begins or continues a run, which has already exported `earlier` frames. Ends the run before: its
 * exported frames that have not arrived are lost, unless it continues later. */
void ledger_run_start(struct ledger *l, uint64_t run, uint64_t earlier);
/* Notes that `earlier` was read from the files, so other missing frames of this run are lost. Call
 * it after ledger_run_start. */
void ledger_run_known(struct ledger *l);
void ledger_free(struct ledger *l);
/* Continues the run in another session. Earlier final totals are not final any more. */
void ledger_run_resume(struct ledger *l);
/* The run continues after a time in which another collector may have received its combos: frames
 * that are missing up to its next combo here are `unheard`. */
void ledger_run_moved(struct ledger *l);
/* Counts the exported frames that have not arrived as lost: they cannot arrive any more. */
void ledger_run_close(struct ledger *l);
void ledger_totals(struct ledger *l, const struct totals *t);
/* Adds a combo of `frames` frames, with `first` frames exported before it. Returns 0, or -EBADMSG
 * if that contradicts earlier messages. */
int ledger_combo(struct ledger *l, uint64_t first, uint32_t frames);
/* Notes that the sensor has no more combos before frame `first` of the run. Their missing frames
 * are lost; or `unheard`, if this collector and its predecessors have none of the run. Call it
 * after taking all arrived combos. Returns 0 or -EBADMSG. */
int ledger_floor(struct ledger *l, uint64_t first);
/* The same for a one-way sensor: all missing frames before `first` are lost. */
int ledger_gone(struct ledger *l, uint64_t first);
/* Counts the pending frames as written, or as lost on the disk. */
void ledger_flushed(struct ledger *l, bool written);
/* Counts `frames` of the pending frames as written, or as refused. */
void ledger_delivered(struct ledger *l, uint64_t frames, bool written);
/* Returns the exported frames that are neither written nor lost. */
uint64_t ledger_in_flight(const struct ledger *l);
/* Returns the sum of all runs; `final`, `store` and `store_limit` are the present run's. */
struct ledger_run ledger_sum(const struct ledger *l);
/* Returns 0 if all three equations hold. */
int64_t ledger_balance(const struct ledger *l);

/* Prints a text line. */
void ledger_print(FILE *out, const char *name, const struct ledger *l);

#endif
