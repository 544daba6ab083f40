/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of take.h call of one another:
 *
 *     take.c        messages, each to its place
 *     take_combo.c  pieces become combos, and combos frames
 *     take_run.c    sessions and runs begin; ACKs
 */
#ifndef COLLECTOR_TAKE_PARTS_H
#define COLLECTOR_TAKE_PARTS_H

#include "take.h"

/* Takes a piece. Returns whether it is kept. */
bool take_piece(struct open *o, struct sensor *s, const uint8_t *message, size_t len,
		uint64_t now_ns);
/* The next combo that is due, where it is whole, with its length and count; NULL: none is. */
const uint8_t *take_whole(struct open *o, struct sensor *s, size_t *len, uint64_t *count);
/* Something has come, or will not: there may be a combo to take. */
void take_due(struct open *o, struct sensor *s);
/* The run of the present session begins, unless combos of the one before it still wait. Returns
 * whether it does. */
bool take_run_begin(struct open *o, struct sensor *s, uint64_t now_ns);

#endif
