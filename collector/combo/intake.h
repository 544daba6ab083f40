/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Intake: what sensors send comes in. In: pieces and FLOORs of authentic messages, sessions that
 * begin by set-up (network/). Out: combos in reassembly, and turns for them; the next run.
 */
#ifndef COLLECTOR_COMBO_INTAKE_H
#define COLLECTOR_COMBO_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct combos;
struct run_terms;
struct sensor;

/* Takes a piece. Returns whether it is kept, so that it is acknowledged. */
bool intake_piece(struct combos *c, struct sensor *s, const uint8_t *message, size_t len,
		  uint64_t now_ns);
/* FLOOR: what is missing below `combo` will not come, and there were `first` frames of the run
 * before it. */
void intake_floor(struct combos *c, struct sensor *s, uint64_t combo, uint64_t first,
		  uint64_t now_ns);
/* A session begins. `t` is taken over. Its run begins, or waits for combos of the one before. */
void intake_session(struct combos *c, struct sensor *s, struct run_terms *t, uint64_t now_ns);

#endif
