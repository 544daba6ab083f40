/* SPDX-License-Identifier: GPL-2.0 */
/* Reads Thrift's compact protocol, of a stranger: what is malformed sets `bad`, and ends all loops.
 */
#ifndef KEEP_PARQUET_THRIFT_READ_H
#define KEEP_PARQUET_THRIFT_READ_H

#include "thrift.h"

struct thrift_in {
	const uint8_t *at, *end;
	bool bad;
};

/* One field of a struct; begins as { 0 }. */
struct thrift_place {
	int id;
	enum thrift_type type;
};

/* Goes to the next field, whose value is at in->at. False: the struct ends, or is bad. The caller
 * reads the value or skips it; a field of THRIFT_TRUE or THRIFT_FALSE has no more bytes. */
bool thrift_next(struct thrift_in *in, struct thrift_place *f);
void thrift_skip(struct thrift_in *in, const struct thrift_place *f);
int64_t thrift_read_int(struct thrift_in *in);

/* A text's or a list's length; of a list, the type of its elements too. At most what `in` has. */
uint32_t thrift_read_len(struct thrift_in *in);
uint32_t thrift_read_list(struct thrift_in *in, enum thrift_type *of);

/* Called for each value of 64 bits within a struct: `path` has the ids of the fields that lead to
 * it. Returns the value to write. */
typedef int64_t thrift_change(void *context, const int *path, int depth, int64_t v);

/* Goes behind a value, and copies it to `out` unless this is NULL. `change` may be NULL. */
void thrift_copy(struct thrift_in *in, struct bytes *out, enum thrift_type type,
		 thrift_change *change, void *context);

#endif
