/* SPDX-License-Identifier: GPL-2.0 */
/* Source: a capture file as a search reads it, compressed or not, and its index. In: untrusted
 * files, which another program may pack or delete meanwhile. */
#ifndef KEEP_FIND_SOURCE_H
#define KEEP_FIND_SOURCE_H

#include "archive/index_read.h"
#include "archive/unpack.h"
#include "keep/folder/listing.h"
#include "pcapng/blocks.h"

struct source {
	int folder, fd;
	char name[NAME_MAX + 1]; /* of the opened form */
	bool has_index, is_compressed;
	struct index index;
	struct unpack *unpack; /* NULL: it is not compressed */
	struct blocks blocks;
};

void source_init(struct source *s, int folder);
/* Reads the index. Without one that can be used, the file is read whole; the log names a wrong one.
 * Returns 0 or -ENOMEM. */
int source_index(struct source *s, const struct stem *stem);
/* Opens the capture at its begin. Takes back `has_index` if the index is of another file. Returns 0
 * or -errno. */
int source_open(struct source *s, const struct stem *stem);
/* Whether there is a compressed file of this name that is of another capture: keep/pack leaves both
 * as they are. The log names it. */
bool source_has_double(const struct source *s, const struct stem *stem);
/* Begins anew. Returns 0 or -errno. */
int source_rewind(struct source *s);
void source_close(struct source *s);

#endif
