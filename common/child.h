/* SPDX-License-Identifier: GPL-2.0 */
/* Child: a process that this one has started. */
#ifndef COMMON_CHILD_H
#define COMMON_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In the child, before it executes a program: resets all signals. A new session keeps a terminal's
 * signals away. The parent blocks these signals while it forks: one that came since the fork was
 * meant for the parent, and is discarded. */
void child_own_signals(void);

/* Waits for its end. Returns its exit status, or 1 after a line that says that `what` was ended by
 * a signal. */
int child_wait(pid_t pid, const char *what);

/* Waits for its end for `patience_ns`; UINT64_MAX: without limit. Needs blocked signals
 * (privsep_block_signals): one to stop that comes a second later or more ends the wait. Returns
 * whether the process has ended. Then child_wait() has its status. */
bool child_wait_patiently(pid_t pid, uint64_t patience_ns);

#endif
