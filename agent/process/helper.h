/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helper: a process of its own for work that strangers' input or a large library has a hand in,
 * such as compiling filters and looking names up. It is forked before there are keys, frames and
 * threads.
 */
#ifndef AGENT_PROCESS_HELPER_H
#define AGENT_PROCESS_HELPER_H

/* Starts a process that runs `serve` with its end of a socket pair (SOCK_SEQPACKET) and `arg`, and
 * has no other descriptors than the standard ones; `serve` closes its sandbox and does not return.
 * It ends with its parent. `what` is what it does, for messages. Returns our end of the pair,
 * non-blocking, which the caller closes, or -errno after a line. */
int helper_start(const char *what, void (*serve)(int sock, const void *arg), const void *arg);

#endif
