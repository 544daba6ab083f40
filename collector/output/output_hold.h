/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hold: the disk is full, and the output's buffer waits. In: results of writes, the file system's
 * free space. Out: whether to write now; log lines at the hold's begin and end. No frame is lost:
 * combos that are not settled stay in the collector's reassembly and with their sensors. Between
 * output.c and output_file.c.
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_HOLD_H
#define COLLECTOR_OUTPUT_OUTPUT_HOLD_H

#include "buffer.h"

#define HOLD_RETRY_MS 500
#define HOLD_RETRY_NS 500000000ULL
#define HOLD_OVER_NS 5000000000ULL /* a hold that starts again within this is the same one */

/* Whether the last attempt was too recent. */
bool hold_must_wait(const struct output *out);
/* Whether the sensor's combos must wait: in a hold, or beyond its share of the disk or the sink. */
bool output_holds(const struct output *out, const struct sensor *s);
/* Whether all sensors' combos must wait. */
bool output_holds_all(const struct output *out);
/* Why nothing is taken from any sensor, and the words for it; OUTPUT_FINE: "". */
enum output_trouble {
	OUTPUT_FINE,
	OUTPUT_WAITS_FOR_DISK,
	OUTPUT_WAITS_FOR_KAFKA,
	OUTPUT_CANNOT_WRITE,
	OUTPUT_TROUBLES
};
enum output_trouble output_trouble(const struct output *out);
const char *output_trouble_words(unsigned int trouble);
/* Queries the file system. Returns 0, or -ENOSPC if the buffer would not leave --keep-free. */
int hold_ask(struct output *out);
/* Whether waiting helps after this error of a write, which may be 0. */
bool hold_is_full(const struct output *out, int err);
void hold_begin(struct output *out, int err);
/* Ends the hold: the buffer was written, or its write failed for another reason. */
void hold_end(struct output *out);
/* Makes the next attempt immediate. */
void hold_try_now(struct output *out);
/* Logs the end of a hold after some time. Checks the free space while it is scarce (budget.h). */
void hold_tick(struct output *out, uint64_t now_ns);
/* Whether it must be called again soon. */
bool hold_wants_tick(const struct output *out);

#endif
