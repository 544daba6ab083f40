/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output flush: the buffer is written, or kept while the disk is full (output_hold.h). In: blocks
 * in the buffer. Out: a file, pipe or device (output_file.h); sensors whose combos are settled.
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_FLUSH_H
#define COLLECTOR_OUTPUT_OUTPUT_FLUSH_H

#include "buffer.h"

/* Begins a section in the buffer: its interface blocks count from zero. */
void output_section_begin(struct output *out);
/* The sensor need never send its run's combos up to here again. */
void output_settle(struct output *out, struct sensor *s);
/* Writes the buffer. Returns whether it is free: on a full disk it is not, and stays as it is. */
bool output_flush(struct output *out);
/* Makes room in the buffer for `len` bytes. Returns false where the disk is full. */
bool output_make_room(struct output *out, size_t len);
/* Whether the file would be larger than it may be with `more` bytes. */
bool output_too_large(const struct output *out, size_t more);

#endif
