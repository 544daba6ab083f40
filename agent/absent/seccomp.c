// SPDX-License-Identifier: GPL-2.0
/*
 * Replaces the files that need libseccomp (NEEDS_seccomp in the Makefile): the two processes drop
 * the rights that they do not need, but may still make any system call, and open files within their
 * rights.
 */
#include <sys/prctl.h>

#include "agent/process/sandbox.h"
#include "common/log.h"

int sandbox_sensor(void)
{
	/* Other processes of the user must not read the keys, not even in a core dump. */
	prctl(PR_SET_DUMPABLE, 0);
	return 0;
}

int sandbox_compiler(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	return 0;
}

int sandbox_resolver(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	return 0;
}

int sandbox_linker(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	return 0;
}

int sandbox_privileged(bool attaches, pid_t child, pid_t helper)
{
	(void)child; /* is another user's: hence CAP_KILL */
	(void)helper;
	log_line("this saluki is built without libseccomp: neither system calls nor files are "
		 "limited");
	return privsep_keep(PRIVSEP_CAP(CAP_KILL) | (attaches ? sandbox_attach_capabilities() : 0));
}
