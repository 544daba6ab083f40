/* SPDX-License-Identifier: GPL-2.0 */
/* Look: looks at a folder once: deletes what is too old, and packs what is closed. */
#ifndef KEEP_SERVICE_LOOK_H
#define KEEP_SERVICE_LOOK_H

#include "age.h"
#include "closed.h"
#include "keep/folder/retire.h"
#include "keep/pack/pack.h"
#include "known.h"

struct look {
	int folder;	  /* a descriptor */
	const char *name; /* of the folder, for messages */
	bool finished;	  /* nobody writes to the files */
	struct pack_options pack;
	uint64_t max_age_us, max_bytes; /* 0: no limit */
	const struct space *min_free;	/* NULL: no limit */
	struct known known;		/* stems that are done */
	struct age age;
	struct closed closed; /* columns of closed days */
	bool once;	      /* there is only one look: it does all */
	/* All looks so far */
	bool full;     /* the disk, in the last look */
	bool was_full; /* which was logged */
	bool failed;   /* a file could not be packed, or columns not be joined */
	uint64_t files;
	struct packed packed;
	struct retired retired;
};

/* Before the first look: checks that collectors leave the files to us (folder/permitted.h), and
 * removes what a killed program has not finished. Returns 0, -EPERM after a line, or -errno. */
int look_begin(struct look *l);
/* Returns 0; 1 if there is more to do at once; -EPERM as look_begin(), for a collector that has
 * come since; -EINTR after a signal to stop; -ENOSPC, after which a later look may do; or -errno
 * after a line. */
int look(struct look *l);
void look_end(struct look *l);

#endif
