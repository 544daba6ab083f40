/* SPDX-License-Identifier: GPL-2.0 */
/* Reads Thrift's compact protocol from untrusted files. Malformed data set `bad`, and end all
 * loops. */
#ifndef KEEP_COMPACT_THRIFT_READ_H
#define KEEP_COMPACT_THRIFT_READ_H

#include "keep/parquet/internal.h"

struct thrift_in {
	const uint8_t *at, *end;
	bool bad;
};

/* One field of a struct; begins as { 0 }. */
struct thrift_place {
	int id;
	int type;
};

/* Goes to the next field of a struct; its value is at in->at. Returns false at the struct's end,
 * and if it is malformed. The caller then reads or skips the value; that of a boolean field has no
 * bytes. */
bool thrift_next(struct thrift_in *in, struct thrift_place *f);
void thrift_skip(struct thrift_in *in, const struct thrift_place *f);
int64_t thrift_read_int(struct thrift_in *in);

/* Reads the length of a text, or of a list and its elements' type. Lengths beyond the end of `in`
 * are malformed. */
uint32_t thrift_read_len(struct thrift_in *in);
uint32_t thrift_read_list(struct thrift_in *in, int *of);

/* Called for each I64. `path` has the ids of the fields that lead to it, and 0 for a list's
 * elements. Returns the value to write instead. */
typedef int64_t thrift_change(void *context, const int *path, int depth, int64_t v);

/* Copies a value to `out`, or only skips it if `out` is NULL. `change` may be NULL. */
void thrift_copy(struct thrift_in *in, struct bytes *out, int type, thrift_change *change,
		 void *context);

#endif
