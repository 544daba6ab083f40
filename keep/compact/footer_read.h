/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the footer of an untrusted file. */
#ifndef KEEP_COMPACT_FOOTER_READ_H
#define KEEP_COMPACT_FOOTER_READ_H

#include "keep/parquet/internal.h"
#include "thrift_read.h"

struct footer_in {
	struct bytes raw;				/* the rest points into it */
	struct thrift_in schema, orders, groups, pairs; /* lists, with their heads; empty: none */
	const uint8_t *creator;				/* created_by */
	uint32_t creator_len;
	int64_t rows;
	uint64_t body_end; /* offset of the footer in the file: row groups are before it */
};

/* Returns 0, -EBADMSG or another -errno. The caller calls footer_in_free() in any case. */
int footer_read(struct footer_in *f, int fd);
void footer_in_free(struct footer_in *f);

#endif
