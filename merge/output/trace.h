/* SPDX-License-Identifier: GPL-2.0 */
/* Trace: reads a trace that writer.h has written. In: an untrusted file. Out: its blocks, and the
 * receptions in their options. */
#ifndef MERGE_OUTPUT_TRACE_H
#define MERGE_OUTPUT_TRACE_H

#include "pcapng/block.h"

/* A transmission's options with its receptions. */
struct trace_receptions {
	uint64_t number;   /* of the transmission; 0: none */
	const uint8_t *of; /* of the first option; NULL: none */
	uint32_t count;
};

struct trace_reception {
	uint16_t sensor, part;
	uint8_t interface, flags;
	int8_t signal;
	int32_t off_ns; /* from the transmission's time */
	uint32_t sigma_ns;
	int64_t stamp_ns; /* minus the transmission's time */
};

/* Calls `block` for each block of the file, until it returns an error. Returns 0, or -errno after a
 * line. */
int trace_read(const char *path, int (*block)(void *context, struct pcapng_block *b),
	       void *context);
/* Reads the options of a packet block. */
struct trace_receptions trace_receptions(struct pcapng_block *b);
struct trace_reception trace_reception(const struct trace_receptions *r, uint32_t number);

/* Whether a block's only reception came late, for the transmission of an earlier block. `last`: the
 * highest number of the blocks before. */
bool trace_comes_late(const struct trace_receptions *r, uint64_t last);

#endif
