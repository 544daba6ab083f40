// SPDX-License-Identifier: GPL-2.0
/* Grace period: see grace_period.h. */
#include "grace_period.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void grace_period(void)
{
	struct timespec t = { 0, 100000000 };

	/* With nohz_full the kernel refuses, and there is no other event to wait for. No program
	 * runs for nearly 100 ms. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&t, NULL);
}
