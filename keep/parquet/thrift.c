// SPDX-License-Identifier: GPL-2.0
#include "thrift.h"

#include <string.h>

#include "wire/bytes.h"

void thrift_varint(struct bytes *out, uint64_t v)
{
	uint8_t *to = bytes_reserve(out, VARINT_MAX);

	if (to)
		out->len += store_varint(to, v);
}

void thrift_field(struct thrift *t, int id, enum thrift_type type)
{
	uint8_t head = (uint8_t)((id - t->id) << 4 | type); /* ids are at most 15 apart */

	bytes_put(t->out, &head, 1);
	t->id = id;
}

void thrift_bool(struct thrift *t, int id, bool v)
{
	thrift_field(t, id, v ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_i8(struct thrift *t, int id, int8_t v)
{
	thrift_field(t, id, THRIFT_I8);
	bytes_put(t->out, &v, 1);
}

void thrift_int(struct thrift *t, int id, enum thrift_type type, int64_t v)
{
	thrift_field(t, id, type);
	thrift_varint(t->out, zigzag(v));
}

void thrift_binary(struct thrift *t, int id, const void *data, size_t len)
{
	thrift_field(t, id, THRIFT_BINARY);
	thrift_varint(t->out, len);
	bytes_put(t->out, data, len);
}

void thrift_text(struct thrift *t, int id, const char *text)
{
	thrift_binary(t, id, text, strlen(text));
}

void thrift_list_head(struct bytes *out, enum thrift_type of, uint32_t count)
{
	uint8_t head = (uint8_t)((count < 15 ? count : 15) << 4 | of);

	bytes_put(out, &head, 1);
	if (count >= 15)
		thrift_varint(out, count);
}

void thrift_list(struct thrift *t, int id, enum thrift_type of, uint32_t count)
{
	thrift_field(t, id, THRIFT_LIST);
	thrift_list_head(t->out, of, count);
}

struct thrift thrift_struct(struct thrift *t, int id)
{
	thrift_field(t, id, THRIFT_STRUCT);
	return (struct thrift){ t->out, 0 };
}

void thrift_stop(struct thrift *t)
{
	bytes_put(t->out, "", 1);
}

void thrift_empty(struct thrift *t, int id)
{
	thrift_field(t, id, THRIFT_STRUCT);
	thrift_stop(t);
}
