/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines that a collector had put into its output and, as it was killed, not into their files: they
 * are read out of the output. In: what was written of it since the state was, and the last line of
 * each file, which is there too, or is older. Out: the lines that follow it.
 */
#ifndef COLLECTOR_LINES_RECOVER_H
#define COLLECTOR_LINES_RECOVER_H

#include "lines.h"

/* Part of an output file, from a block on. */
struct lines_span {
	int fd;
	int64_t from, len; /* `len`: of the whole file */
};

/* Takes the spans in their order; `buffer` is of `size` bytes, and nobody's. A failure is said. */
void lines_recover(struct lines *l, const struct lines_span *spans, unsigned int count,
		   uint8_t *buffer, size_t size);

#endif
