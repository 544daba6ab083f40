/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handout: a socket that gives descriptors of shared memory to other programs. A program connects,
 * and gets one message with the descriptors. The collector reads nothing from the socket, closes
 * it, and never waits.
 */
#ifndef COLLECTOR_FILES_HANDOUT_H
#define COLLECTOR_FILES_HANDOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/model/rate_limit.h"

#define HANDOUT_FDS_MAX 3
#define HANDOUT_A_SECOND 20

/* Unused descriptors are -1, all other members 0. */
struct handout {
	int listener;
	int fds[HANDOUT_FDS_MAX]; /* what is given */
	struct rate_limit rate;
	bool waiting; /* the next connection must wait for the next second */
};

#define HANDOUT_NONE                                                                               \
	{                                                                                          \
		.listener = -1, .fds = { -1, -1, -1 }                                              \
	}

/* Makes the socket at `path`. With `folder`, also makes the path's folder. Returns 0, or -errno
 * with the reason in `why`. */
int handout_listen(struct handout *h, const char *path, bool folder, const char **why);
/* Lets a group's members connect. If there is no such group, logs that `option` is for this user
 * only. */
void handout_permit(const char *option, const char *path, const char *group);
/* Returns the descriptor to poll for connections. If a connection must wait, returns -1, and
 * reduces the timeout, in ms. */
int handout_polled(const struct handout *h, int *timeout);
/* Gives the descriptors, and the message `hello`, to a program that waits.
 */
void handout_give(struct handout *h, const void *hello, size_t len, uint64_t now_ns);
/* Closes everything. */
void handout_close(struct handout *h);

#endif
