/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ledger of a sensor: what it says it saw and sent (wire/totals.h) against what arrived and
 * was written here.
 *
 *     seen = filtered + ring_full + copy_failed + captured             the sensor's word
 *     captured = exported + dropped_send + dropped_shutdown + in_ring + vanished
 *                                                                      the sensor's word
 *     exported = earlier + written + lost_missing + lost_disk + lost_refused + in flight
 *                                                                      counted here
 *
 * Every combo says how many frames the run exported before it, and a sensor that gives combos up
 * how many were in those (FLOOR), so a gap is known to the frame. `earlier` are frames that a run
 * exported before this collector process heard of it. A run may be
 * carried on by another agent process, after its last word (frames that were left to it are
 * `in_ring`) or without one. A run that ends without a last word ends with what is known: frames
 * that were captured and not exported by then are `vanished`. Runs that have ended are summed up.
 * Two processes with one key may take the session from one another again and again: the last
 * LEDGER_PAST runs that ended are kept, and one that is heard again goes on where it was.
 * `balance` is 0 unless a frame is nowhere.
 */
#ifndef COLLECTOR_MODEL_LEDGER_H
#define COLLECTOR_MODEL_LEDGER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "wire/totals.h"

#define LEDGER_PAST 3

struct ledger_run {
	struct totals sensor; /* its last word */
	uint64_t vanished;    /* captured, and gone with a sensor that died without a last word */
	uint64_t earlier;     /* exported before we heard of the run */
	uint64_t unheard; /* gone when we first heard of it: `earlier`, but for what the sensor says
			   * that it gave up */
	uint64_t accounted; /* frames of the run up to the last combo opened */
	uint64_t written, lost_disk, lost_missing;
	uint64_t lost_refused; /* arrived, and must not be written: frame_check.h */
	uint64_t tail;	       /* of lost_missing: exported and not here when the run was closed */
	bool known; /* `earlier` is all that the files have of it: nothing else is `unheard` */
};

/* Runs that ended, the newest first, as they were just before that. */
struct ledger_past {
	struct {
		uint64_t run; /* its name */
		struct ledger_run at_end;
	} runs[LEDGER_PAST];
	unsigned int count;
};

struct ledger {
	uint64_t run; /* the present run's name */
	uint64_t runs;
	struct ledger_run now, before; /* the present run; the sum of those that ended */
	struct ledger_past *past;      /* NULL: only one run was heard, or there was no memory */
	uint64_t pending;	       /* frames in the output's buffer; output.c counts them */
	/* what was wrong with authentic messages */
	uint64_t bad_combos, bad_pieces, bad_messages, duplicate_pieces;
	uint64_t bad_events, unknown_events; /* in combos; passed over */
	uint64_t said;			     /* events of modules in combos */
	uint64_t received_bytes;
};

/* A run begins, or is first heard of when it has exported `earlier` frames already, or is heard
 * again. The one before is closed: frames that it exported and that are not here are lost, unless
 * it is heard again. */
void ledger_run_start(struct ledger *l, uint64_t run, uint64_t earlier);
/* `earlier` was read from the files, so frames of this run that are gone and not in `earlier` are
 * lost. To be called behind ledger_run_start. */
void ledger_run_known(struct ledger *l);
void ledger_free(struct ledger *l);
/* The run goes on in another session: the last word, if there was one, was not the last. */
void ledger_run_resume(struct ledger *l);
/* What is still in flight will not come any more. */
void ledger_run_close(struct ledger *l);
void ledger_totals(struct ledger *l, const struct totals *t);
/* A combo of `frames` frames, with `first` frames exported before it. Returns 0, or -EBADMSG
 * where that contradicts what came before. */
int ledger_combo(struct ledger *l, uint64_t first, uint32_t frames);
/* The sensor has no combos any more that come before `first` frames of the run: what is not here of
 * them is lost, or was another collector's where nothing of the run has been heard yet, also by a
 * collector before this one. To be called when those that are here are taken. Returns 0 or
 * -EBADMSG. */
int ledger_floor(struct ledger *l, uint64_t first);
/* As ledger_floor, of a sensor that hears nobody: what is not here of them is lost. */
int ledger_gone(struct ledger *l, uint64_t first);
/* The output has written, or dropped, the frames that were pending. */
void ledger_flushed(struct ledger *l, bool written);
/* Frames the sensor has exported and we have neither written nor lost. */
uint64_t ledger_in_flight(const struct ledger *l);
/* All runs together. */
struct ledger_run ledger_sum(const struct ledger *l);
/* 0 where all three equations hold. */
int64_t ledger_balance(const struct ledger *l);

/* One line for people; the members of a JSON object. */
void ledger_print(FILE *out, const char *name, const struct ledger *l);
void ledger_json(FILE *out, const char *name, unsigned int id, const struct ledger *l);

#endif
