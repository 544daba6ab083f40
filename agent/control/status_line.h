/* SPDX-License-Identifier: GPL-2.0 */
/* Status line: the text of the sensor's status line (common/terminal_line.h), once a second. */
#ifndef AGENT_CONTROL_STATUS_LINE_H
#define AGENT_CONTROL_STATUS_LINE_H

#include <stdint.h>

#include "agent/export/export.h"
#include "common/status_text.h"
#include "common/terminal_line.h"

struct status_line {
	struct terminal_line *line; /* NULL: no line is shown */
	struct status_counts before;
	uint64_t at_ns; /* CLOCK_MONOTONIC of `before`; 0: none yet */
};

/* Call it for new totals. */
void status_line_tell(struct status_line *l, const struct exporter *e, const struct totals *t,
		      uint64_t now_ns);

#endif
