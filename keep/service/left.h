/* SPDX-License-Identifier: GPL-2.0 */
/* Left: files that are left as they are, so that each is named once, until it changes. */
#ifndef KEEP_SERVICE_LEFT_H
#define KEEP_SERVICE_LEFT_H

#include "keep/folder/listing.h"

struct left {
	struct left_file {
		char *name;
		uint64_t bytes[FORMS];
		int64_t time_ns;
	} * list;
	unsigned int count, room;
};

/* Notes a stem as it is. Returns true; without memory the file is only named again. */
bool left_note(struct left *l, const struct stem *s);
/* Whether the stem was noted, and is the same. */
bool left_has(const struct left *l, const struct stem *s);
void left_free(struct left *l);

#endif
