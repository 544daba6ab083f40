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

#include "forward.h"
#include "wire/message.h"

struct combos;
struct sensor;

/* What a set-up says of the run that its session is of. */
struct run_terms {
	uint64_t run;
	struct forward forward;
	char *info; /* what the sensor says of itself (malloc) */
	uint16_t info_len;
};

/* A session begins. `t` is taken over. */
void runs_session(struct combos *c, struct sensor *s, struct run_terms *t, uint64_t now_ns);
/* While the run waits: what the sensor says of itself is this. Returns 0 or -ENOMEM. */
int runs_info(struct sensor *s, const void *text, size_t len);
/* The session has ended: a run that waits does not begin. */
void runs_cancel(struct sensor *s);
/* The run that waits begins, unless combos of the one before it still wait. Returns whether it
 * does. */
bool runs_begin(struct combos *c, struct sensor *s, uint64_t now_ns);
/* What an ACK of the present session says of its run: `taken`, `settled`, `held`, `flags`. Ends the
 * run when all of it is settled. */
void runs_ack(struct combos *c, struct sensor *s, struct ack *ack);

#endif
