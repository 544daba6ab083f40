/* SPDX-License-Identifier: GPL-2.0 */
/* Known: stems that are done: they are packed, or left as they are. This holds until a stem
 * changes, so that the program reads an index, and names a damaged file, only once. */
#ifndef KEEP_SERVICE_KNOWN_H
#define KEEP_SERVICE_KNOWN_H

#include "keep/folder/listing.h"

struct known {
	void *tree; /* of tsearch(3), by name */
};

/* Notes a stem as it is. Without memory it is looked at again. */
void known_note(struct known *k, const struct stem *s);
/* Whether the stem was noted, and is the same. */
bool known_has(const struct known *k, const struct stem *s);
/* The stem was deleted. */
void known_forget(struct known *k, const struct stem *s);
void known_free(struct known *k);

#endif
