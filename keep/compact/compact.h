/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compact: joins the Parquet files of a closed day, FOLDER/TABLE/day=YYYY-MM-DD/STEM.parquet, to
 * parts: part-NNNNN.parquet. A part's metadata list its sources. A part gets its name when it is
 * whole and on the disk. Sources are deleted then, by the next program if this one is killed.
 */
#ifndef KEEP_COMPACT_COMPACT_H
#define KEEP_COMPACT_COMPACT_H

#include <stdint.h>

#include "seen.h"

#define COMPACT_BYTES 1000000000ULL /* of a part, at most */

struct compact {
	int folder;		   /* a descriptor */
	const char *const *tables; /* names of folders, then NULL */
	struct seen settled;	   /* days that have nothing to join */
	struct seen left;	   /* malformed files */
	uint64_t files;		   /* joined so far */
	uint64_t wanted; /* bytes that the last part needs on the disk; 0: there is room */
};

/*
 * Deletes files whose rows a part has, and makes at most one part. `before`: only of days before
 * this one. `min_free`: so many bytes stay free on the disk. Returns 1: it made a part, and may
 * have more to do; 0: all is done; -EAGAIN: another program compacts this folder; -ENOSPC: the disk
 * has no room for a copy; -EINTR after a signal to stop; or -errno.
 */
int compact(struct compact *c, const char *before, uint64_t min_free);
/* Deletes the Parquet files of days before this one. Returns how many, or -errno. */
int compact_expire(const struct compact *c, const char *before);
/* Deletes the tables of a capture file, of all days: a new one has its name. Returns 0 or -errno.
 */
int compact_forget(int folder, const char *const *tables, const char *stem);
void compact_end(struct compact *c);

#endif
