/* SPDX-License-Identifier: GPL-2.0 */
/* Takes one message with descriptors from a SOCK_SEQPACKET socket that has a path. */
#ifndef COMMON_UNIX_TAKE_H
#define COMMON_UNIX_TAKE_H

#include <stddef.h>

/* Connects, takes the message of at most `len` bytes and its descriptors, and closes the socket.
 * Waits at most `ms` for each step. `fds` (PRIVSEP_FDS_MAX): unused ones are -1. Returns 0 or
 * -errno, then without descriptors. */
int unix_take(const char *path, int ms, void *message, size_t len, int *fds);

#endif
