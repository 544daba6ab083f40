/* SPDX-License-Identifier: GPL-2.0 */
/* Stop: lets SIGINT, SIGTERM and SIGHUP end a program in order. stop_wait() and stop_write() let
 * them through while they wait, and they are blocked at all other times. A signal can therefore
 * never come between a look at stop_count() and a wait. */
#ifndef COMMON_STOP_H
#define COMMON_STOP_H

#include <stddef.h>
#include <sys/types.h>

/* Blocks the three signals, and counts them from now on. */
void stop_catch(void);
/* Returns how many have come. */
unsigned int stop_count(void);
/* Waits until the descriptor has one of the `events` of poll(2), at most `timeout_ms`; -1: without
 * limit. Returns 1, 0 after this time, or -errno: -EINTR after a signal. */
int stop_wait(int fd, short events, int timeout_ms);
/* Writes as much as a pipe takes at once, when it takes something. After a signal, waits 3 s for
 * its reader, and after a second one not at all. Returns how many bytes were written, or -errno:
 * -ECANCELED: the reader takes nothing. */
ssize_t stop_write(int fd, const void *p, size_t len);

#endif
