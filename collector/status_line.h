/* SPDX-License-Identifier: GPL-2.0 */
/* Status line: the text of the collector's status line (common/terminal_line.h), once a second. */
#ifndef COLLECTOR_STATUS_LINE_H
#define COLLECTOR_STATUS_LINE_H

#include <stdint.h>

#include "collector/network/network.h"
#include "common/status_text.h"
#include "common/terminal_line.h"

struct status_line {
	struct terminal_line shown;
	struct status_counts before;
	uint64_t at_ns; /* CLOCK_MONOTONIC of `before`; 0: none yet */
};

/* Sets the text when due. Returns milliseconds until the next time; -1: no line is shown. */
int status_line_tick(struct status_line *l, const struct network *o, uint64_t now_ns);

#endif
