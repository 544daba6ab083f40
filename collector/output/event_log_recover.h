/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines that a collector had put into its output and, as it was killed, not into their files: they
 * are read out of the output. In: what was written of it since the state was, and the last line of
 * each file, which is there too, or is older. Out: the lines that follow it.
 */
#ifndef COLLECTOR_OUTPUT_EVENT_LOG_RECOVER_H
#define COLLECTOR_OUTPUT_EVENT_LOG_RECOVER_H

#include "event_log.h"

/* Part of an output file, from a block on. */
struct event_log_span {
	int fd;
	int64_t from, len; /* `len`: of the whole file */
};

/* Takes the spans in their order; `buffer` is of `size` bytes, and nobody's. A failure is said. */
void event_log_recover(struct event_log *l, const struct event_log_span *spans, unsigned int count,
		       uint8_t *buffer, size_t size);

#endif
