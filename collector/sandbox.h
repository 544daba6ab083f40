/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sandbox: limits the collector's two processes to what they still need (common/sandbox.h).
 * sandbox.c is the only file of the collector that uses libseccomp.
 */
#ifndef COLLECTOR_SANDBOX_H
#define COLLECTOR_SANDBOX_H

#include <sys/types.h>

#include "options.h"

/* The unprivileged process: from here on it opens nothing; files are handed to it. Called before it
 * has seen a datagram. Returns 0, or -errno after a line. */
int sandbox_receiving(void);

/* The privileged process: from here on it opens files where the output and the statistics go, and
 * nowhere else. Returns 0, or -errno after a line. */
int sandbox_files(const struct collector_options *o, pid_t child);

#endif
