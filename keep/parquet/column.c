// SPDX-License-Identifier: GPL-2.0
/* A column of a row group: chooses the encoding, and makes pages, statistics and bloom filter. */
#include <endian.h>
#include <errno.h>
#include <zstd.h>

#include "internal.h"
#include "wire/bytes.h"

#define LEVEL 1 /* of zstd */
#define SLOT_BITS 14
#define BOUND_MAX 64	  /* bytes; longer texts have no statistics */
#define DISTINCT_MAX 4096 /* integers of more values have no dictionary */

static const size_t widths[] = {
	[PARQUET_BOOLEAN] = 1, [PARQUET_INT32] = 4, [PARQUET_INT64] = 8, [PARQUET_TEXT] = 4
};

/* Appends the body to `out` as a page of `count` values, and empties it. */
static void put_page(struct parquet *f, struct chunk *k, bool is_data, uint32_t count)
{
	size_t room = ZSTD_compressBound(f->body.len), len, begin = f->out.len;
	struct thrift t = { &f->out, 0 }, head;

	f->body.failed |= room > INT32_MAX; /* a page's lengths have 31 bits */
	if (f->body.failed || !bytes_reserve(&f->packed, room))
		return;
	len = ZSTD_compressCCtx(f->zstd, f->packed.data, room, f->body.data, f->body.len, LEVEL);
	f->packed.failed |= ZSTD_isError(len);
	if (f->packed.failed)
		return;
	thrift_int(&t, 1, THRIFT_I32, is_data ? 0 : 2); /* DATA_PAGE or DICTIONARY_PAGE */
	thrift_int(&t, 2, THRIFT_I32, (int64_t)f->body.len);
	thrift_int(&t, 3, THRIFT_I32, (int64_t)len);
	head = thrift_struct(&t, is_data ? 5 : 7);
	thrift_int(&head, 1, THRIFT_I32, count);
	thrift_int(&head, 2, THRIFT_I32,
		   is_data && k->has_dictionary ? ENCODING_RLE_DICTIONARY : ENCODING_PLAIN);
	for (int id = 3; is_data && id <= 4; id++) /* definition and repetition levels */
		thrift_int(&head, id, THRIFT_I32, ENCODING_RLE);
	thrift_stop(&head);
	thrift_stop(&t);
	k->data = f->written + begin;
	k->raw += f->out.len - begin + f->body.len;
	bytes_put(&f->out, f->packed.data, len);
	k->packed += f->out.len - begin;
	f->body.len = 0;
}

/* Encodings.md's hybrid: one run of v[0], which is below 256; or all values packed. */
static void put_hybrid(struct bytes *out, const uint32_t *v, uint32_t n, int width, bool is_run)
{
	bytes_varint(out, is_run ? (uint64_t)n << 1 : (n + 7) / 8 << 1 | 1);
	if (is_run)
		bytes_put(out, &(uint8_t){ (uint8_t)v[0] }, 1);
	else
		bytes_pack(out, v, n, width);
}

/* Picks the values of rows that have one. Returns how many, and makes the definition levels. */
static uint32_t pick(struct parquet *f, const struct parquet_column *c,
		     const struct parquet_values *v, const uint32_t *order, uint32_t rows)
{
	int64_t mask = c->logical == PARQUET_UINT32 ? (int64_t)UINT32_MAX : -1;
	size_t width = widths[c->type];
	uint32_t count = 0;

	f->flags[0] = 1;
	if (v->present && memchr(v->present, 0, rows)) {
		for (uint32_t i = 0; i < rows; i++) {
			uint32_t at = order ? order[i] : i;

			f->flags[i] = v->present[at] != 0;
			f->picked[count] = at;
			count += f->flags[i];
		}
		order = f->picked;
		rows = count;
	}
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t at = order ? order[i] : i;

		f->x[i] = width == 1   ? ((const uint8_t *)v->values)[at] != 0
			  : width == 4 ? ((const int32_t *)v->values)[at] & mask
				       : ((const int64_t *)v->values)[at];
		f->numbers[i] = (uint32_t)f->x[i]; /* of booleans */
	}
	return rows;
}

/* Numbers the distinct values. Returns how many there are; 0: more than `most`. The slots of texts
 * are their codes. */
static uint32_t number(struct parquet *f, bool is_text, uint32_t slots, uint32_t n, uint32_t most)
{
	uint32_t count = 0;

	memset(f->slots, 0, slots * sizeof(*f->slots));
	for (uint32_t i = 0; i < n; i++) {
		uint64_t x = (uint64_t)f->x[i], hash = x * 0x9e3779b97f4a7c15;
		uint32_t slot = (uint32_t)(is_text ? x : hash >> (64 - SLOT_BITS));

		while (f->slots[slot] && f->distinct[f->slots[slot] - 1] != f->x[i])
			slot = (slot + 1) % slots;
		if (!f->slots[slot]) {
			if (count == most)
				return 0;
			f->distinct[count++] = f->x[i];
			f->slots[slot] = count;
		}
		f->numbers[i] = f->slots[slot] - 1;
	}
	return count;
}

static void put_bounds(struct parquet *f, const void *min, uint32_t min_len, const void *max,
		       uint32_t max_len)
{
	struct thrift t = { &f->bounds, 3 };

	if (min_len > BOUND_MAX || max_len > BOUND_MAX)
		return;
	thrift_text(&t, 5, max, max_len);
	thrift_text(&t, 6, min, min_len);
	thrift_field(&t, 7, THRIFT_TRUE); /* exact */
	thrift_field(&t, 8, THRIFT_TRUE);
}

/* Integers of `width` bytes in PLAIN encoding, and their bounds. */
static void put_ints(struct parquet *f, const struct parquet_column *c, const int64_t *x,
		     uint32_t n)
{
	int64_t flip = c->logical == PARQUET_UINT64 ? INT64_MIN : 0; /* compare as unsigned ones */
	int64_t min = INT64_MAX, max = INT64_MIN;
	uint32_t width = (uint32_t)widths[c->type];
	uint8_t *to = bytes_reserve(&f->body, (size_t)n * width);

	if (!to || !n)
		return;
	for (uint32_t i = 0; i < n; i++, to += width) {
		memcpy(to, &(uint64_t){ htole64((uint64_t)x[i]) }, width);
		min = (x[i] ^ flip) < min ? x[i] ^ flip : min;
		max = (x[i] ^ flip) > max ? x[i] ^ flip : max;
	}
	f->body.len += (size_t)n * width;
	put_bounds(f, &(uint64_t){ htole64((uint64_t)(min ^ flip)) }, width,
		   &(uint64_t){ htole64((uint64_t)(max ^ flip)) }, width);
}

static int compare(const uint8_t *a, const uint8_t *b)
{
	uint32_t a_len = load_le32(a), b_len = load_le32(b);
	int differ = memcmp(a + 4, b + 4, a_len < b_len ? a_len : b_len);

	return differ ? differ : a_len < b_len ? -1 : a_len > b_len;
}

/* The dictionary of texts, their bounds, and the bloom filter. */
static void put_texts(struct parquet *f, const struct parquet_column *c,
		      const struct parquet_text *texts, uint32_t n)
{
	size_t min = 0, max = 0;
	const uint8_t *data;

	for (uint32_t i = 0; i < n; i++) {
		size_t at = f->body.len;

		bytes_put(&f->body, "\0\0\0", 4);
		text_put(&f->body, texts[f->distinct[i]].bytes, texts[f->distinct[i]].len);
		bytes_set_length(&f->body, at);
		data = f->body.data;
		min = !f->body.failed && compare(data + at, data + min) < 0 ? at : min;
		max = !f->body.failed && compare(data + at, data + max) > 0 ? at : max;
	}
	if (f->body.failed || !n)
		return;
	put_bounds(f, data + min + 4, load_le32(data + min), data + max + 4, load_le32(data + max));
	if (c->bloom)
		bloom_put(&f->bloom, &f->body, n);
}

static void put_values(struct parquet *f, const struct parquet_column *c,
		       const struct parquet_values *v, uint32_t n, struct chunk *k)
{
	bool is_text = c->type == PARQUET_TEXT, is_flag = c->type == PARQUET_BOOLEAN;
	uint32_t most = is_text ? n : is_flag ? 0 : n / 2 < DISTINCT_MAX ? n / 2 : DISTINCT_MAX;
	uint32_t count = number(f, is_text, is_text ? v->text_count : 1U << SLOT_BITS, n, most);
	int width = count > 1 ? 32 - __builtin_clz(count - 1) : 1;

	k->has_dictionary = count > 0;
	if (is_text)
		put_texts(f, c, v->texts, count);
	else if (count)
		put_ints(f, c, f->distinct, count);
	if (count)
		put_page(f, k, false, count);
	if (c->optional) {
		bytes_put(&f->body, "\0\0\0", 4);
		put_hybrid(&f->body, f->flags, k->rows, 1, !n || n == k->rows);
		bytes_set_length(&f->body, 0);
	}
	if (is_flag) {
		bytes_pack(&f->body, f->numbers, n, 1);
	} else if (count) {
		bytes_put(&f->body, &(uint8_t){ (uint8_t)width }, 1);
		put_hybrid(&f->body, f->numbers, n, width, count == 1);
	} else {
		put_ints(f, c, f->x, n);
	}
	put_page(f, k, true, k->rows);
}

void column_put(struct parquet *f, const struct parquet_column *c, const struct parquet_values *v,
		const uint32_t *order, uint32_t rows, struct chunk *k)
{
	uint32_t n = pick(f, c, v, order, rows);

	if ((n < rows && !c->optional) || v->text_count > PARQUET_TEXTS)
		f->error = -EINVAL;
	for (uint32_t i = 0; c->type == PARQUET_TEXT && i < n; i++)
		f->error = (uint64_t)f->x[i] < v->text_count ? f->error : -EINVAL;
	if (f->error)
		return;
	*k = (struct chunk){ .start = f->written + f->out.len, .rows = rows, .nulls = rows - n };
	f->bloom.len = f->bounds.len = 0;
	put_values(f, c, v, n, k);
	k->bloom_len = f->bloom.len;
	bytes_put(&f->out, f->bloom.data, f->bloom.len);
	if (f->body.failed || f->packed.failed || f->bloom.failed || f->bounds.failed ||
	    f->out.failed)
		f->error = -ENOMEM;
}
