/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Intake: takes sensors' data from the network. In: pieces and FLOORs of authentic messages,
 * sessions started by set-up (network/), time. Out: combos in reassembly, and turns for them; the
 * next run.
 */
#ifndef COLLECTOR_COMBO_INTAKE_H
#define COLLECTOR_COMBO_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct combos;
struct run_terms;
struct sensor;

/* Takes a piece. Returns whether it was handled, and so may be acknowledged. */
bool intake_piece(struct combos *c, struct sensor *s, const uint8_t *message, size_t len,
		  uint64_t now_ns);
/* Takes a FLOOR: missing combos below `combo` will not arrive, and the run had `first` frames
 * before it. */
void intake_floor(struct combos *c, struct sensor *s, uint64_t combo, uint64_t first,
		  uint64_t now_ns);
/* Takes over the terms `t` of a new session. Starts its run, or lets it wait for the previous run's
 * combos. */
void intake_session(struct combos *c, struct sensor *s, struct run_terms *t, uint64_t now_ns);
/* Gives up data that is lost by now. Call it when the sensor is due (sensors_due). */
void intake_tick(struct combos *c, struct sensor *s, uint64_t now_ns);
/* Call it shortly before the end: stops waiting for missing data that is not sent again, and takes
 * all combos that need not wait for the disk. */
void intake_finish(struct combos *c, uint64_t now_ns);
/* The same at the end of a capture, whose sensor no other collector has: combos that must wait for
 * the disk are lost on the disk. */
void intake_finish_capture(struct combos *c, uint64_t now_ns);

#endif
