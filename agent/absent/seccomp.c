// SPDX-License-Identifier: GPL-2.0
/*
 * In place of what needs libseccomp (NEEDS_seccomp in the Makefile): the two processes give up the
 * rights that they do not need, but may still make any system call, and open what those rights let
 * them.
 */
#include <sys/prctl.h>

#include "agent/process/sandbox.h"
#include "common/log.h"

int sandbox_sensor(void)
{
	/* Nobody of the same user may look at the keys, also in what a crash leaves behind. */
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

int sandbox_privileged(bool attaches, pid_t child)
{
	(void)child; /* is another user's: hence CAP_KILL */
	log_line("this saluki is built without libseccomp: neither system calls nor files are "
		 "limited");
	return privsep_keep(PRIVSEP_CAP(CAP_KILL) | (attaches ? sandbox_attach_capabilities() : 0));
}
