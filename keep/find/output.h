/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output: writes frames that were found as pcapng of one section: Wireshark misreads a second one
 * in a stream. An interface block comes before its first frame, with the text of the original one,
 * and once, also if many files describe the same interface. Before a transmission come the radios
 * that have heard it. Stamps are nanoseconds.
 */
#ifndef KEEP_FIND_OUTPUT_H
#define KEEP_FIND_OUTPUT_H

#include "search.h"

struct output;

/* `fd` stays the caller's. Returns NULL without memory. */
struct output *output_new(int fd);
/* Returns 0 or -errno; -EPIPE: the reader has left. The section header has the trace's number of
 * the first frame, unless the header had to be written before. */
int output_frame(struct output *o, const struct found *f);
/* Writes what waits. Returns as output_frame(). */
int output_flush(struct output *o);
/* Writes what waits into a file; what a pipe has not taken is lost. */
void output_interrupt(struct output *o);
/* Whether frames of several unified traces were written, which was logged. */
bool output_is_mixed(const struct output *o);
/* The same; notices a reader that has left also if nothing waits. */
int output_tick(struct output *o);
void output_free(struct output *o);

#endif
