/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sandbox: limits the two processes of `saluki run` to what they still need (common/sandbox.h).
 * sandbox.c is the only file of the agent that uses libseccomp.
 */
#ifndef AGENT_PROCESS_SANDBOX_H
#define AGENT_PROCESS_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#include "agent/tap/tap.h"
#include "common/privsep.h"

/* The rights for attaching, kept only while interfaces may need attaching again. */
static inline uint64_t sandbox_attach_capabilities(void)
{
	uint64_t caps = tap_bpf_capabilities() | PRIVSEP_CAP(CAP_NET_ADMIN) |
			PRIVSEP_CAP(CAP_NET_RAW);

	if (geteuid()) /* the folders of pins and locks are root's */
		caps |= PRIVSEP_CAP(CAP_DAC_OVERRIDE);
	return caps;
}

/* For the unprivileged process: from here on it opens no files. Call it after it has its
 * descriptors, keys and socket, and before it sees a frame or an answer and starts threads. Returns
 * 0, or -errno after a line. */
int sandbox_sensor(void);

/* For the process that compiles filters: from here on it can only compile. Call it after libpcap is
 * loaded. Returns 0, or -errno after a line. */
int sandbox_compiler(void);

/* For the process that resolves names: from here on it can only read files and talk to name
 * servers. Returns 0, or -errno after a line. */
int sandbox_resolver(void);

/* For the process that links modules: from here on it has only its open files, which it may open
 * again (/proc/self/fd). Returns 0, or -errno after a line. */
int sandbox_linker(void);

/* For the privileged process: call it after all is attached and handed over. `attaches`: interfaces
 * may need attaching again. `helper` is as in struct run_options. Returns 0, or -errno after a
 * line. */
int sandbox_privileged(bool attaches, pid_t child, pid_t helper);

#endif
