/* SPDX-License-Identifier: GPL-2.0 */
/* The privileged process of `saluki run`: opens, attaches, follows interfaces. */
#ifndef AGENT_PRIVILEGED_H
#define AGENT_PRIVILEGED_H

#include <signal.h>
#include <sys/types.h>

#include "agent/status/status_socket.h"
#include "agent/options/options.h"
#include "common/terminal_line.h"

/* Opens everything, passes it on `sock` to process `child`, and stays until that has ended.
 * `signals` are blocked, and read here. `board` and `line`: shared memory that the other process
 * writes. Returns the exit status. */
int privileged_process(const struct run_options *o, int sock, const sigset_t *signals, pid_t child,
		       const struct shared_statistics *board, struct terminal_line *line);

#endif
