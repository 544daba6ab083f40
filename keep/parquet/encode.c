// SPDX-License-Identifier: GPL-2.0
/* Packed values, texts, bloom filters and Thrift's compact protocol. */
#include <endian.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/utf8.h"
#include "internal.h"
#include "wire/bytes.h"

#define BLOCK 32	      /* bytes */
#define VALUES_A_BLOCK 24     /* 10.7 bits a value: 0.6 % of others pass a full filter */
#define BLOCKS_MAX (1U << 19) /* 16 MiB */

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
	uint8_t *to = bytes_reserve(b, len + sizeof(uint32_t));
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
	for (; to < b->data + b->len + len; bits >>= 8)
		*to++ = (uint8_t)bits;
	b->len += len;
}

void thrift_field(struct thrift *t, int id, int type)
{
	uint8_t head = (uint8_t)((id - t->id) << 4 | type); /* ids are at most 15 apart */

	bytes_put(t->out, &head, 1);
	t->id = id;
}

void thrift_int(struct thrift *t, int id, int type, int64_t v)
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

void thrift_list_head(struct bytes *out, int of, uint32_t count)
{
	uint8_t head = (uint8_t)((count < 15 ? count : 15) << 4 | of);

	bytes_put(out, &head, 1);
	if (count >= 15)
		bytes_varint(out, count);
}

void thrift_list(struct thrift *t, int id, int of, uint32_t count)
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

/* A split-block filter (BloomFilter.md) of XXH64. One in 100 other values passes it, or fewer. */
void bloom_put(struct bytes *out, const struct bytes *texts, uint32_t count)
{
	/* Each union has its first field, an empty struct: blocks, XXH64, not compressed. */
	static const char unions[] = "\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0";
	static const uint32_t salt[8] = { 0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
					  0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U };
	const uint8_t *p = texts->data;
	struct thrift t = { out, 0 };
	uint32_t blocks = 1;
	uint8_t *bits;

	while (blocks < BLOCKS_MAX && blocks * VALUES_A_BLOCK < count)
		blocks *= 2;
	thrift_int(&t, 1, THRIFT_I32, (int64_t)blocks * BLOCK);
	bytes_put(out, unions, sizeof(unions)); /* and the end of the head */
	bits = bytes_reserve(out, (size_t)blocks * BLOCK);
	if (!bits)
		return;
	memset(bits, 0, (size_t)blocks * BLOCK);
	for (uint32_t i = 0; i < count; i++, p += 4 + load_le32(p)) {
		uint64_t hash = XXH64(p + 4, load_le32(p), 0);
		uint8_t *block = bits + ((hash >> 32) * blocks >> 32) * BLOCK;

		for (int word = 0; word < 8; word++) {
			uint32_t bit = (uint32_t)hash * salt[word] >> 27;

			block[word * 4 + bit / 8] |= (uint8_t)(1U << bit % 8);
		}
	}
	out->len += (size_t)blocks * BLOCK;
}
