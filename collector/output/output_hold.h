/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hold: the disk is full, and what the output has in its buffer waits. In: what a write returned,
 * what the file system has left. Out: whether to write now; lines when a hold begins and when it is
 * over. Nothing is lost: combos that are not settled stay where they are, in the collector's
 * reassembly and with their sensors. Between output.c and output_file.c.
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_HOLD_H
#define COLLECTOR_OUTPUT_OUTPUT_HOLD_H

#include "buffer.h"

#define HOLD_RETRY_MS 500
#define HOLD_RETRY_NS 500000000ULL
#define HOLD_OVER_NS 5000000000ULL /* a hold that begins again within it is the same one */

/* Whether the last attempt was a moment ago. */
bool hold_must_wait(const struct output *out);
/* Whether combos of the sensor must wait: all must, or it has used its share of the disk. */
bool output_holds(const struct output *out, const struct sensor *s);
/* Asks the file system. Returns 0, or -ENOSPC where the buffer would not leave --keep-free. */
int hold_ask(struct output *out);
/* Whether a failed write is of the kind that waiting helps. */
bool hold_is_full(const struct output *out, int err);
void hold_begin(struct output *out, int err);
/* The buffer is written, or its write has failed for another reason. */
void hold_end(struct output *out);
/* The next attempt is not to wait. */
void hold_try_now(struct output *out);
/* Says that a hold is over, when it is for some time; looks whether there is more space where it is
 * scarce (budget.h). */
void hold_tick(struct output *out, uint64_t now_ns);
/* Whether that is to be called again soon. */
bool hold_wants_tick(const struct output *out);

#endif
