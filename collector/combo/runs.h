/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs: tracks each sensor's current run. In: sessions started by set-up. Out: the combo at which
 * the run continues, and its part of ACKs. A run starts when all combos of the previous run are
 * written. Until then combo_sensor.waiting is set, and nothing of the new run is kept.
 */
#ifndef COLLECTOR_COMBO_RUNS_H
#define COLLECTOR_COMBO_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"

struct combos;
struct run_terms;
struct sensor;

/* Makes the run of a new session the next one, and takes `t` over. Returns whether it differs from
 * the current run. */
bool runs_next(struct sensor *s, struct run_terms *t);
/* Whether complete combos, or the output's buffer, must be written before the next run. */
bool runs_must_wait(struct combos *c, struct sensor *s);
/* Starts the next run, unless it must wait. Returns whether it started. */
bool runs_begin(struct combos *c, struct sensor *s);
/* Ends the current run, and begins another one without a session, or continues it where it is known
 * (written.h). */
void runs_switch(struct combos *c, struct sensor *s, uint64_t run);
/* Cancels a waiting run, after its session ended. */
void runs_cancel(struct sensor *s);
/* Fills in the current run's part of an ACK: `taken`, `settled`, `held`, `flags`. Ends the run once
 * all of it is settled. */
void runs_ack(struct combos *c, struct sensor *s, struct ack *ack);

#endif
