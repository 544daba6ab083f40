/* SPDX-License-Identifier: GPL-2.0 */
/* Stop: SIGINT, SIGTERM and SIGHUP end a merge of a live stream. They are blocked, and come through
 * only while stop_wait() and stop_write() wait, so that none comes between a look at stop_count()
 * and a wait. A merge of files does not catch them. */
#ifndef COMMON_STOP_H
#define COMMON_STOP_H

#include <stddef.h>
#include <sys/types.h>

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
