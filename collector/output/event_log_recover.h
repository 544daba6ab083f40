/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event log, recovery: finds lines that a killed collector wrote to its output and not to their
 * files. In: the output since the last state, and each file's last line. Out: the lines after it.
 */
#ifndef COLLECTOR_OUTPUT_EVENT_LOG_RECOVER_H
#define COLLECTOR_OUTPUT_EVENT_LOG_RECOVER_H

#include "event_log.h"

/* A part of an output file that begins with a block. */
struct event_log_span {
	int fd;
	int64_t from, len; /* `len`: of the whole file */
};

/* Takes the spans in order. `buffer`: scratch memory of `size` bytes. Logs failures. */
void event_log_recover(struct event_log *l, const struct event_log_span *spans, unsigned int count,
		       uint8_t *buffer, size_t size);

#endif
