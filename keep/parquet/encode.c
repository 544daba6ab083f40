// SPDX-License-Identifier: GPL-2.0
/* Packed values, texts and Thrift's compact protocol. */
#include <endian.h>

#include "common/utf8.h"
#include "internal.h"
#include "wire/bytes.h"

void bytes_varint(struct bytes *b, uint64_t v)
{
	uint8_t *to = bytes_reserve(b, VARINT_MAX);

	if (to)
		b->len += store_varint(to, v);
}

void bytes_set_length(struct bytes *b, size_t at)
{
	if (!b->failed)
		store_le(b->data + at, b->len - at - 4, 4);
}

void bytes_pack(struct bytes *b, const uint32_t *v, size_t n, int width)
{
	size_t len = (n + 7) / 8 * (size_t)width;
	uint8_t *to = bytes_reserve(b, len + sizeof(uint32_t)), *end = to + len;
	uint64_t bits = 0;
	int count = 0;

	if (!to)
		return;
	for (size_t i = 0; i < n; i++) {
		bits |= (uint64_t)v[i] << count;
		count += width;
		if (count < 32)
			continue;
		memcpy(to, &(uint32_t){ htole32((uint32_t)bits) }, 4);
		to += 4;
		bits >>= 32;
		count -= 32;
	}
	for (; to < end; bits >>= 8)
		*to++ = (uint8_t)bits;
	b->len += len;
}

void thrift_field(struct thrift *t, int id, enum thrift_type type)
{
	uint8_t head = (uint8_t)((id - t->id) << 4 | type); /* ids are at most 15 apart */

	bytes_put(t->out, &head, 1);
	t->id = id;
}

void thrift_int(struct thrift *t, int id, enum thrift_type type, int64_t v)
{
	thrift_field(t, id, type);
	bytes_varint(t->out, zigzag(v));
}

void thrift_text(struct thrift *t, int id, const void *text, size_t len)
{
	thrift_field(t, id, THRIFT_BINARY);
	bytes_varint(t->out, len);
	bytes_put(t->out, text, len);
}

void thrift_list_head(struct bytes *out, enum thrift_type of, uint32_t count)
{
	uint8_t head = (uint8_t)((count < 15 ? count : 15) << 4 | of);

	bytes_put(out, &head, 1);
	if (count >= 15)
		bytes_varint(out, count);
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

void text_put(struct bytes *out, const char *bytes, size_t len)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		uint8_t c = (uint8_t)bytes[i], after = i + 1 < len ? (uint8_t)bytes[i + 1] : 0;
		bool control = c < 0x20 || c == 0x7f || (c == 0xc2 && after < 0xa0);

		n = control || c == '\\'
			    ? 0
			    : (size_t)utf8_character((const uint8_t *)bytes + i, len - i);
		if (n)
			bytes_put(out, bytes + i, n);
		else
			bytes_put(out, (char[]){ '\\', 'x', hex[c >> 4], hex[c & 15] }, 4);
	}
}
