/* SPDX-License-Identifier: GPL-2.0 */
/* Directory: a copy of the table's sensors, their names and groups. */
#ifndef LIVE_DIRECTORY_H
#define LIVE_DIRECTORY_H

#include <stdbool.h>

#include "source.h"

struct directory {
	struct live_sensor *list; /* NULL: no copy yet */
	uint32_t count;
	uint32_t seq; /* of the copy */
};

/* Takes the table's sensors if they have changed. Returns whether they have. */
bool directory_update(struct directory *x, const struct source *s);
/* Also before another source. */
void directory_free(struct directory *x);

#endif
