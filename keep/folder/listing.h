/* SPDX-License-Identifier: GPL-2.0 */
/* Listing: the capture files of a folder, and which forms each has (form.h). */
#ifndef KEEP_FOLDER_LISTING_H
#define KEEP_FOLDER_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "form.h"

struct stem {
	char *name;	     /* malloc */
	char *series;	     /* malloc: what the stems of a series have in common; NULL: of none */
	unsigned int number; /* in the series */
	bool has[FORMS];     /* as regular files */
	uint64_t bytes[FORMS];
	int64_t time_ns;  /* CLOCK_REALTIME: when the capture was written last */
	bool is_followed; /* a later file of the series has begun */
};

struct listing {
	struct stem *list; /* by series, then in the order of writing */
	unsigned int count, room;
};

/* Reads the folder. `is_ours`: nobody else packs files there. If not, a form can be gone that a
 * stem has. Returns 0 or -errno. */
int listing_read(struct listing *l, int folder, bool is_ours);
void listing_free(struct listing *l);

#endif
