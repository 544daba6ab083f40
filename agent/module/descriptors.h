/* SPDX-License-Identifier: GPL-2.0 */
/* Closes descriptors that a process with fewer rights must not have. */
#ifndef AGENT_MODULE_DESCRIPTORS_H
#define AGENT_MODULE_DESCRIPTORS_H

#include <sys/syscall.h>
#include <unistd.h>

/* Closes `first` and all above it. */
static inline void descriptors_close_from(unsigned int first)
{
	if (syscall(SYS_close_range, first, ~0U, 0) == 0) /* since Linux 5.9 */
		return;
	for (long fd = first; fd < sysconf(_SC_OPEN_MAX); fd++)
		close(fd);
}

#endif
