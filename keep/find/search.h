/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Search: looks for frames in the capture files of a folder. In: a query. Out: the frames that fit,
 * in the files' order. A file is opened only if its index says that it can have something, and then
 * only the chunks that can are read. A file that has no index yet is read whole.
 */
#ifndef KEEP_FIND_SEARCH_H
#define KEEP_FIND_SEARCH_H

#include "keep/folder/listing.h"
#include "keep/model/found.h"
#include "query.h"

struct search {
	struct query *query;
	int folder;
	/* Takes a frame. Returns 0; above 0: enough; or -errno, which ends the search. */
	int (*take)(void *context, const struct found *f);
	/* Called for each file, before it is read, and now and then. May be NULL. Returns 0, or
	 * -errno, which ends the search. */
	int (*progress)(void *context, const struct search *s);
	void *context;
	/* So far */
	unsigned int files, of, opened;	  /* looked at, of how many, and opened */
	uint64_t blocks, frames, matched; /* read, and found */
	unsigned int damaged;		  /* files that could not be read to their end */
	bool stopped;			  /* by `take` or `progress` */
};

/* Returns 0, above 0 if `take` had enough, or -errno. Damaged files are named. */
int search(struct search *s, const struct listing *l);

#endif
