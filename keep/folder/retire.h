/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Retire: deletes the oldest capture files. Always holds: a deleted file is packed (its own index
 * stands beside it), and its index goes after it.
 */
#ifndef KEEP_FOLDER_RETIRE_H
#define KEEP_FOLDER_RETIRE_H

#include "listing.h"

struct retire_limits {
	int64_t before_ns;  /* files written last before this time go; INT64_MIN: none */
	uint64_t max_bytes; /* of all forms in the folder; 0: any */
	uint64_t min_free;  /* bytes on the file system; 0: any */
	uint64_t wanted;    /* with min_free: so many more, unless that is much of all files */
	bool finished;	    /* nobody writes to the files */
	/* Whether a stem's index is its own: a file that has the name of one is not enough. */
	bool (*is_packed)(int folder, const struct stem *s);
};

struct retired {
	uint64_t files, bytes;
	char last[256]; /* the stem that was deleted last */
};

/* Deletes. `l` loses what was deleted. Returns 0 or -ENOMEM. Files that cannot be deleted
 * are named. */
int retire(int folder, struct listing *l, const struct retire_limits *limits, struct retired *r);

#endif
