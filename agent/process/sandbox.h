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

/* What attaching takes: kept only while interfaces may have to be attached to again. */
static inline uint64_t sandbox_attach_capabilities(void)
{
	uint64_t caps = tap_bpf_capabilities() | PRIVSEP_CAP(CAP_NET_ADMIN) |
			PRIVSEP_CAP(CAP_NET_RAW);

	if (geteuid()) /* the folders of pins and locks are root's */
		caps |= PRIVSEP_CAP(CAP_DAC_OVERRIDE);
	return caps;
}

/* The unprivileged process: from here on it opens nothing. Called when it has its descriptors, keys
 * and socket, and before it has seen a frame or an answer, and before threads are started. Returns
 * 0, or -errno after a line. */
int sandbox_sensor(void);

/* The process that compiles filters: from here on it compiles and nothing else. Called when it has
 * libpcap. Returns 0, or -errno after a line. */
int sandbox_compiler(void);

/* The process that looks names up: from here on it reads files and speaks to name servers. Returns
 * 0, or -errno after a line. */
int sandbox_resolver(void);

/* The process that links modules: from here on it has no files but those that are open, which it
 * may open again (/proc/self/fd). Returns 0, or -errno after a line. */
int sandbox_linker(void);

/* The privileged process: called when all is attached and handed over. `attaches`: interfaces,
 * which may have to be attached to again. Returns 0, or -errno after a line. */
int sandbox_privileged(bool attaches, pid_t child);

#endif
