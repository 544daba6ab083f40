/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output flush: writes the buffer, or keeps it while the disk is full (output_hold.h). In: blocks
 * in the buffer. Out: a file, pipe or device (output_file.h); sensors with settled combos.
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_FLUSH_H
#define COLLECTOR_OUTPUT_OUTPUT_FLUSH_H

#include "buffer.h"

#define OUTPUT_SINK_ACK_NS 20000000ULL /* from a combo's DONE to its ACK */

/* Begins a section in the buffer. Its interface blocks count from zero. */
void output_section_begin(struct output *out);
/* Notes that the sensor's combos up to here are settled. */
void output_settle(struct output *out, struct sensor *s);
/* Notes that those below `next` are, with `accounted` frames of the run. */
void output_settle_to(struct output *out, struct sensor *s, uint64_t next, uint64_t accounted);
/* Writes the buffer. Returns whether it is empty: on a full disk it stays unchanged. */
bool output_flush(struct output *out);
/* Makes room in the buffer for `len` bytes. Returns false if the disk is full. */
bool output_make_room(struct output *out, size_t len);
/* Whether `more` bytes would exceed the file's limit. */
bool output_too_large(const struct output *out, size_t more);

#endif
