/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Print: prints a line for each frame, as tcpdump does. In: a capture stream (pcapng or pcap) on a
 * descriptor. Out: text on standard output. The lines come from tcpdump or tshark, if installed, or
 * else from our own code (line.h).
 *
 *     in -> common/pcap_read -> print.c -> feed.c -> [dissector] -> dissector.c -> screen.c -> 1
 *                                     \-> line*.c, dump.c ---------------------/
 *
 * Always holds: the dissector's input comes only from feed.c, the dissector has no privileges and
 * no network, and all output passes through screen.c.
 */
#ifndef PRINT_PRINT_H
#define PRINT_PRINT_H

#include <sys/types.h>

#include "print_options.h"

/* Returns 0, or -ENOENT after a line if the dissector asked for is not installed: the line names
 * the package. */
int print_check(const struct print_options *o);

/* Starts the printing process. Call it before opening descriptors that it must not inherit. Returns
 * a pipe to it for a capture stream, or -errno after a line; `pid` is for print_end(). */
int print_start(const struct print_options *o, pid_t *pid);
/* Waits until all is printed, or for a signal to stop, as standard output may be a pager: this
 * process must end then. Blocks signals. Returns the exit status. */
int print_end(pid_t pid);
/* Runs in a process of its own, until `in` ends. Starts the dissector, confines itself, prints to
 * standard output. Ignores SIGINT, SIGTERM and SIGHUP, as the frames on the way must be printed.
 * Returns the exit status: 0 also if standard output was closed, 1 after a line. */
int print_process(int in, const struct print_options *o);

#endif
