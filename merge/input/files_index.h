/* SPDX-License-Identifier: GPL-2.0 */
/* Index of files: where each sensor's frames are. The first pass of files.h. In: untrusted files,
 * which may still grow: what is complete at the start counts. */
#ifndef MERGE_INPUT_FILES_INDEX_H
#define MERGE_INPUT_FILES_INDEX_H

#include "names.h"
#include "take.h"

struct extent {
	uint64_t at;
	uint32_t len;
	uint32_t section;
};

/* A sensor's frames. */
struct stream {
	struct extent *of;
	uint32_t count, room, next;
	int64_t reached_ns; /* unified time */
	bool leapt;	    /* it has come further than this, at once */
};

struct section {
	struct input_section of;
	uint32_t file;
};

struct files {
	struct take *take;
	struct names *names;
	struct section *sections;
	uint32_t section_count, section_room;
	struct stream *streams; /* by sensor */
	uint32_t stream_room;
	uint32_t begun;	      /* of the streams before this one, something was read */
	uint64_t bytes, done; /* of extents */
	uint64_t missed;
	unsigned int looked;  /* extents since all streams were looked at */
	unsigned int unswept; /* and since the last sweep */
};

/* Notes what is in a file, which is open. Returns 0, or -errno after a line. */
int files_index(struct files *f, uint32_t file);
/* Says and counts, once for a file, that it cannot be read from this byte on (blocks.h). */
void files_left_out(struct files *f, uint32_t file, uint64_t at, int64_t err);

#endif
