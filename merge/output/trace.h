/* SPDX-License-Identifier: GPL-2.0 */
/* Trace: reads a trace that writer.h has written. In: an untrusted file. Out: its blocks, and the
 * receptions in their options. */
#ifndef MERGE_OUTPUT_TRACE_H
#define MERGE_OUTPUT_TRACE_H

#include "pcapng/receptions.h"

/* Calls `block` for each block of the file, until it returns an error. Returns 0, or -errno after a
 * line. */
int trace_read(const char *path, int (*block)(void *context, struct pcapng_block *b),
	       void *context);
/* Whether a block's only reception came late, for the transmission of an earlier block. `last`: the
 * highest number of the blocks before. */
bool trace_comes_late(const struct trace_receptions *r, uint64_t last);

#endif
