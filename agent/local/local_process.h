/* SPDX-License-Identifier: GPL-2.0 */
/* Local process: a process that `saluki capture` has started. */
#ifndef AGENT_LOCAL_LOCAL_PROCESS_H
#define AGENT_LOCAL_LOCAL_PROCESS_H

#include <sys/types.h>

/* Waits for its end. Returns its exit status, or 1 after a line about a signal. */
int local_process_wait(pid_t pid, const char *what);

#endif
