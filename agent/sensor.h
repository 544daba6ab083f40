/* SPDX-License-Identifier: GPL-2.0 */
/* The unprivileged process of `saluki run`: frames, keys and network. */
#ifndef AGENT_SENSOR_H
#define AGENT_SENSOR_H

#include "agent/model/statistics.h"
#include "agent/options/options.h"
#include "common/terminal_line.h"

/* Drops privilege, waits for the handover on `sock`, then captures and exports until a stop. Writes
 * its numbers to `board`, and the status line's text to `line`. Returns the exit status. */
int sensor_process(const struct run_options *o, int sock, struct shared_statistics *board,
		   struct terminal_line *line);

#endif
