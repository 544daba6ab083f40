// SPDX-License-Identifier: GPL-2.0
/* Sandbox: see sandbox.h; what a list means is in common/sandbox.h. */
#include "sandbox.h"

#include <fcntl.h>
#include <sys/prctl.h>

#include "common/privsep.h"
#include "common/sandbox.h"

int sandbox_viewer(void)
{
	static const struct sandbox_check checks[] = {
		{ "fcntl", 1, SANDBOX_INT, F_GET_SEALS },
		{ "fcntl64", 1, SANDBOX_INT, F_GET_SEALS },
		{ 0 },
	};
	static const struct sandbox_policy policy = {
		/* At the end it waits for a reader, but not for long, and for what prints. */
		.allowed = "alarm setitimer wait4 waitid waitpid rt_sigtimedwait "
			   "rt_sigtimedwait_time64",
		.checked = checks,
		/* libpcap tries to resolve hosts and ports, which fails. */
		.refused = SANDBOX_OPENING " " SANDBOX_REACHING,
	};
	int err = privsep_drop(PRIVSEP_USER_DEFAULT);

	prctl(PR_SET_DUMPABLE, 0);
	return err ?: sandbox_calls(&policy);
}
