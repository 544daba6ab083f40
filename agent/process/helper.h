/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helper: a separate process for work with untrusted input or a large library, such as compiling
 * filters and resolving names. It is forked before there are keys, frames and threads.
 */
#ifndef AGENT_PROCESS_HELPER_H
#define AGENT_PROCESS_HELPER_H

/* Starts a process that runs `serve` with its end of a socket pair (SOCK_SEQPACKET) and `arg`. It
 * has no other descriptors except the standard ones. `serve` enters its sandbox and does not
 * return. The process ends with its parent. `what` names its work in messages. Returns our end of
 * the pair, non-blocking, which the caller closes, or -errno after a line. */
int helper_start(const char *what, void (*serve)(int sock, const void *arg), const void *arg);

#endif
