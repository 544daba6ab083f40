/* SPDX-License-Identifier: GPL-2.0 */
/* Child: waits for a process that this one has started. */
#ifndef COMMON_CHILD_H
#define COMMON_CHILD_H

#include <sys/types.h>

/* Waits for its end. Returns its exit status, or 1 after a line that says that `what` was ended by
 * a signal. */
int child_wait(pid_t pid, const char *what);

#endif
