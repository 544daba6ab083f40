/* SPDX-License-Identifier: GPL-2.0 */
/* Seen: paths that were seen at a time of change, and need no second look until they change. */
#ifndef KEEP_COMPACT_SEEN_H
#define KEEP_COMPACT_SEEN_H

#include <stdbool.h>
#include <time.h>

struct seen {
	struct seen_path {
		char *path;
		struct timespec changed;
	} * list;
	unsigned int count, room;
};

bool seen_has(const struct seen *s, const char *path, const struct timespec *changed);
/* Returns 0 or -ENOMEM. */
int seen_note(struct seen *s, const char *path, const struct timespec *changed);
void seen_free(struct seen *s);

#endif
