/* SPDX-License-Identifier: GPL-2.0 */
/* Counts: what was found, as a table: a line for each sensor and interface. */
#ifndef KEEP_FIND_COUNTS_H
#define KEEP_FIND_COUNTS_H

#include "search.h"

struct count {
	uint32_t number; /* of its line, from 0 */
	char name[160];
	uint64_t frames, bytes;	   /* bytes: on the wire */
	int64_t first_ns, last_ns; /* lowest and highest stamp */
};

struct counts {
	struct count **list; /* by number */
	uint32_t count, room;
	void *by_name; /* of tsearch(3): a file can describe a million interfaces */
};

/* Notes the line's number as the interface's `copy`. Returns 0 or -ENOMEM. */
int counts_frame(struct counts *c, const struct found *f);
/* Prints the table. The caller looks for errors of standard output. */
void counts_print(const struct counts *c);
void counts_free(struct counts *c);

#endif
