/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs: which run of a sensor is the present one. In: sessions that begin by set-up. Out: where the
 * run goes on, and what ACKs say of it. A run begins when all combos of the one before it are
 * written; until then combo_sensor.waiting is set, and nothing of the new run is kept.
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

/* A session begins, and its run is to be the next. `t` is taken over. Returns whether that is
 * another run than the present one. */
bool runs_next(struct sensor *s, struct run_terms *t);
/* Whether combos that are whole, or in the output's buffer, must come before the next run. */
bool runs_must_wait(struct combos *c, struct sensor *s);
/* The next run begins, unless it must wait. Returns whether it does. */
bool runs_begin(struct combos *c, struct sensor *s);
/* The session has ended: a run that waits does not begin. */
void runs_cancel(struct sensor *s);
/* What an ACK of the present session says of its run: `taken`, `settled`, `held`, `flags`. Ends the
 * run when all of it is settled. */
void runs_ack(struct combos *c, struct sensor *s, struct ack *ack);

#endif
