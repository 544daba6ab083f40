/* SPDX-License-Identifier: GPL-2.0 */
/* Stop: SIGINT, SIGTERM and SIGHUP end a merge of a live stream. They are blocked, and come through
 * only in stop_wait(), so that none comes between a look at stop_count() and a wait. */
#ifndef MERGE_STOP_H
#define MERGE_STOP_H

void stop_catch(void);
/* Returns how many have come. */
unsigned int stop_count(void);
/* Waits until the descriptor has one of the `events` of poll(2), at most `timeout_ms`; -1: without
 * limit. Returns 1, 0 after this time, or -errno: -EINTR after a signal. */
int stop_wait(int fd, short events, int timeout_ms);

#endif
