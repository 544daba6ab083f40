/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ring: the files of a series that were written with -W. When there are more files than -W allows,
 * the oldest are deleted. Each file names its ring in the section header's comment, so the ring
 * continues after a restart or a crash; that of `saluki capture` does not. Always holds: a deleted
 * file is a regular file of the series, its comment names this ring, and no other collector writes
 * to it.
 */
#ifndef COLLECTOR_FILES_RING_H
#define COLLECTOR_FILES_RING_H

#include "series.h"

#define RING_COMMENT_MAX 512

struct ring {
	char comment[RING_COMMENT_MAX]; /* "": no ring */
	unsigned int most;		/* files */
	char **names;			/* oldest first */
	unsigned int count;
};

/* Finds the ring's files among the `count` files of the series, oldest first, and deletes those
 * without frames. Returns 0 or -errno. */
int ring_init(struct ring *r, const struct series *s, unsigned int most, char *const *files,
	      unsigned int count);
/* Adds the new file, and deletes the oldest ones. Logs failures. */
void ring_add(struct ring *r, const char *name);
/* Forgets this file, which was removed, if it is the newest one. */
void ring_forget(struct ring *r, const char *name);
void ring_free(struct ring *r);

#endif
