/* SPDX-License-Identifier: GPL-2.0 */
/* Writes Thrift's compact protocol. */
#ifndef KEEP_PARQUET_THRIFT_H
#define KEEP_PARQUET_THRIFT_H

#include "bytes.h"

enum thrift_type {
	THRIFT_TRUE = 1, /* a field's type is its value */
	THRIFT_FALSE = 2,
	THRIFT_I8 = 3,
	THRIFT_I16 = 4,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_DOUBLE = 7,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_SET = 10,
	THRIFT_MAP = 11,
	THRIFT_STRUCT = 12,
};

/* Writes the fields of one struct in ascending order: begins as { out, 0 }. */
struct thrift {
	struct bytes *out;
	int id; /* the last field's */
};

void thrift_varint(struct bytes *out, uint64_t v);
void thrift_field(struct thrift *t, int id, enum thrift_type type);
void thrift_bool(struct thrift *t, int id, bool v);
void thrift_i8(struct thrift *t, int id, int8_t v);
void thrift_int(struct thrift *t, int id, enum thrift_type type, int64_t v); /* I16, I32, I64 */
void thrift_binary(struct thrift *t, int id, const void *data, size_t len);
void thrift_text(struct thrift *t, int id, const char *text);
void thrift_list(struct thrift *t, int id, enum thrift_type of, uint32_t count);
void thrift_list_head(struct bytes *out, enum thrift_type of, uint32_t count);
struct thrift thrift_struct(struct thrift *t, int id);
void thrift_empty(struct thrift *t, int id); /* a struct without fields */
void thrift_stop(struct thrift *t);	     /* ends a struct, and the one of thrift_struct() */

#endif
