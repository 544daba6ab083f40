/* SPDX-License-Identifier: GPL-2.0 */
/* Origin: which program wrote a capture file, and how. In: the section header, of an untrusted
 * file. */
#ifndef KEEP_FOLDER_ORIGIN_H
#define KEEP_FOLDER_ORIGIN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/space.h"
#include "pcapng/block.h"

struct origin {
	bool is_collected; /* by saluki-collector or saluki capture */
	bool is_merged;	   /* by saluki-merge */
	bool is_found;	   /* by a search, perhaps in a unified trace */
	bool is_ring;	   /* its collector deletes the oldest files (-W) */
	bool tells_keep_free;
	struct space keep_free; /* its collector's --keep-free */
	uint64_t trace;		/* a unified trace's number; 0: not known */
	uint32_t header_len;	/* bytes of the section header */
};

static inline bool origin_is_ours(const struct origin *o)
{
	return o->is_collected || o->is_merged || o->is_found;
}

/* Whether packets may be transmissions. */
static inline bool origin_is_unified(const struct origin *o)
{
	return o->is_merged || o->is_found;
}

/* Reads the header of an open file. Returns 0, -EBADMSG if it is not pcapng, -ENODATA if the header
 * is not complete, or another -errno. */
int origin_read(struct origin *o, int fd);
/* The same for a stem's capture file, whose name it sets. */
int origin_of(struct origin *o, int folder, const char *stem, char name[NAME_MAX + 1]);
/* The same for a section header that was read. */
void origin_section(struct origin *o, struct pcapng_block b);
/* Whether a file of `bytes` bytes has more than its section header. */
bool origin_has_begun(int folder, const char *stem, uint64_t bytes);

#endif
