/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sandbox: limits the collector's processes to what they still need (common/sandbox.h).
 * sandbox.c is the only file of the collector that uses libseccomp.
 */
#ifndef COLLECTOR_SANDBOX_H
#define COLLECTOR_SANDBOX_H

#include <sys/types.h>

#include "options.h"

/* For the unprivileged process: from here on it opens no files, but gets descriptors. Call it
 * before the first datagram. Returns 0, or -errno after a line. */
int sandbox_receiving(void);

/* For the process that writes --stats-file: it calculates, and asks for files. Returns 0, or -errno
 * after a line. */
int sandbox_statistics(void);

/* For the privileged process: from here on it can open only files for output and statistics.
 * Returns 0, or -errno after a line. */
int sandbox_files(const struct collector_options *o, pid_t child, pid_t statistics);

#endif
