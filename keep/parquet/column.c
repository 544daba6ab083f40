// SPDX-License-Identifier: GPL-2.0
#include "column.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "bloom.h"
#include "delta.h"
#include "hybrid.h"
#include "text.h"
#include "thrift.h"
#include "wire/bytes.h"

#define LEVEL 1

/* The rows that have a value, in order. */
struct rows {
	const uint32_t *at; /* NULL: 0, 1, 2... */
	uint32_t count, all;
	bool constant; /* all values are the first one */
};

/* ---- pages ----------------------------------------------------------------------------------- */

enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

static size_t compress(struct column_work *w)
{
	size_t room = ZSTD_compressBound(w->page.len), len;

	w->packed.len = 0;
	if (!bytes_reserve(&w->packed, room))
		return 0;
	len = ZSTD_compressCCtx(w->zstd, w->packed.data, room, w->page.data, w->page.len, LEVEL);
	if (ZSTD_isError(len) || w->page.len > INT32_MAX)
		w->error = w->page.len > INT32_MAX ? -EFBIG : -ENOMEM;
	return w->error ? 0 : len;
}

/* Moves w->page to the file. */
static void put_page(struct column_work *w, struct chunk *k, int type, uint32_t count, int encoding)
{
	size_t len = compress(w), begin = w->out.len;
	struct thrift t = { &w->out, 0 }, head;

	thrift_int(&t, 1, THRIFT_I32, type);
	thrift_int(&t, 2, THRIFT_I32, (int64_t)w->page.len);
	thrift_int(&t, 3, THRIFT_I32, (int64_t)len);
	head = thrift_struct(&t, type == PAGE_DATA ? 5 : 7);
	thrift_int(&head, 1, THRIFT_I32, count);
	thrift_int(&head, 2, THRIFT_I32, encoding);
	if (type == PAGE_DATA) {
		thrift_int(&head, 3, THRIFT_I32, ENCODING_RLE); /* definition levels */
		thrift_int(&head, 4, THRIFT_I32, ENCODING_RLE); /* repetition levels */
	}
	thrift_stop(&head);
	thrift_stop(&t);
	k->raw += w->out.len - begin + w->page.len;
	bytes_put(&w->out, w->packed.data, len);
	k->packed += w->out.len - begin;
	if (type == PAGE_DATA) {
		k->data = w->written + begin;
		k->encoding = (uint8_t)encoding;
	}
	w->page.len = 0;
}

/* Definition levels: 1 for each row that has a value. */
static void put_levels(struct column_work *w, const struct parquet_column *c, const struct rows *r)
{
	uint8_t len[4];

	if (!c->optional)
		return;
	w->levels.len = 0;
	if (r->count == r->all || !r->count) {
		hybrid_put_run(&w->levels, r->count > 0, r->all, 1);
	} else {
		thrift_varint(&w->levels, (r->all + 7) / 8 << 1 | 1);
		hybrid_put_bits(&w->levels, w->flags, r->all);
	}
	store_le(len, w->levels.len, 4);
	bytes_put(&w->page, len, 4);
	bytes_put(&w->page, w->levels.data, w->levels.len);
}

/* w->page has the dictionary; w->indexes refer to it, unless it has one value. */
static void put_dictionary(struct column_work *w, const struct parquet_column *c,
			   const struct rows *r, uint32_t count, struct chunk *k)
{
	uint8_t width = (uint8_t)hybrid_width(count - 1);

	k->dictionary = true;
	put_page(w, k, PAGE_DICTIONARY, count, ENCODING_PLAIN);
	put_levels(w, c, r);
	bytes_put(&w->page, &width, 1);
	if (count == 1)
		hybrid_put_run(&w->page, 0, r->count, width);
	else
		hybrid_put(&w->page, w->indexes, r->count, width);
	put_page(w, k, PAGE_DATA, r->all, ENCODING_RLE_DICTIONARY);
}

static void bound(struct chunk *k, const void *min, const void *max, uint32_t min_len,
		  uint32_t max_len)
{
	k->bounded = min_len <= BOUND_MAX && max_len <= BOUND_MAX;
	if (!k->bounded)
		return;
	memcpy(k->min, min, k->min_len = min_len);
	memcpy(k->max, max, k->max_len = max_len);
}

/* ---- values by type -------------------------------------------------------------------------- */

static void put_booleans(struct column_work *w, const struct parquet_column *c, const uint8_t *v,
			 struct rows *r, struct chunk *k)
{
	uint8_t *x = (uint8_t *)w->ints, min = 1, max = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		x[i] = v[r->at ? r->at[i] : i] != 0;
		min &= x[i];
		max |= x[i];
	}
	if (r->count)
		bound(k, &min, &max, 1, 1);
	put_levels(w, c, r);
	hybrid_put_bits(&w->page, x, r->count);
	put_page(w, k, PAGE_DATA, r->all, ENCODING_PLAIN);
}

/* Unsigned 64-bit values are kept with another highest bit: then all compare as signed ones. */
static int64_t flip(const struct parquet_column *c)
{
	return c->logical == PARQUET_UINT64 ? INT64_MIN : 0;
}

/* Copies n values to w->ints. */
static const int64_t *pick(struct column_work *w, const struct parquet_column *c, const void *v,
			   const uint32_t *at, uint32_t n)
{
	const int64_t *wide = v;
	const int32_t *narrow = v;
	int64_t *x = w->ints;
	int64_t mask = c->logical == PARQUET_UINT32 ? (int64_t)UINT32_MAX : -1;

	if (c->type == PARQUET_INT64) {
		if (!at && !flip(c))
			return wide;
		for (uint32_t i = 0; i < n; i++)
			x[i] = wide[at ? at[i] : i] ^ flip(c);
	} else {
		for (uint32_t i = 0; i < n; i++)
			x[i] = narrow[at ? at[i] : i] & mask;
	}
	return x;
}

static void put_plain(struct column_work *w, const struct parquet_column *c, const int64_t *x,
		      uint32_t n)
{
	size_t width = c->type == PARQUET_INT64 ? 8 : 4;
	uint8_t *to = bytes_reserve(&w->page, n * width);

	for (uint32_t i = 0; to && i < n; i++) {
		uint64_t le = htole64((uint64_t)(x[i] ^ flip(c)));

		memcpy(to + i * width, &le, width);
	}
	w->page.len += to ? n * width : 0;
}

static void bloom_ints(struct column_work *w, const struct parquet_column *c, const int64_t *x,
		       uint32_t n, struct chunk *k)
{
	struct bloom b = bloom_put(&w->blooms, n);

	for (uint32_t i = 0; i < n; i++) {
		uint64_t le = htole64((uint64_t)(x[i] ^ flip(c)));

		bloom_add(&b, &le, c->type == PARQUET_INT64 ? 8 : 4);
	}
	k->bloom_len = (uint32_t)(w->blooms.len - k->bloom);
}

static void put_ints(struct column_work *w, const struct parquet_column *c, const void *v,
		     struct rows *r, struct chunk *k)
{
	uint32_t n = r->constant ? 1 : r->count, width = c->type == PARQUET_INT64 ? 8 : 4,
		 count = 0;
	const int64_t *x = pick(w, c, v, r->at, n);
	int64_t min = INT64_MAX, max = INT64_MIN;

	for (uint32_t i = 0; i < n; i++) {
		min = x[i] < min ? x[i] : min;
		max = x[i] > max ? x[i] : max;
	}
	if (n) {
		put_plain(w, c, (int64_t[]){ min, max }, 2);
		if (!w->page.failed)
			bound(k, w->page.data, w->page.data + width, width, width);
		w->page.len = 0;
		count = distinct_find(&w->distinct, x, n, min, max, r->count / 2, w->indexes);
	}
	if (count) {
		put_plain(w, c, w->distinct.values, count);
		if (c->bloom)
			bloom_ints(w, c, w->distinct.values, count, k);
		put_dictionary(w, c, r, count, k);
		return;
	}
	put_levels(w, c, r);
	if (c->bloom)
		bloom_ints(w, c, x, n, k);
	if (c->type == PARQUET_INT64 && n)
		delta_put(&w->page, x, n, flip(c));
	else
		put_plain(w, c, x, n);
	put_page(w, k, PAGE_DATA, r->all,
		 c->type == PARQUET_INT64 && n ? ENCODING_DELTA : ENCODING_PLAIN);
}

/* Makes the dictionary in w->page. Returns how many texts it has. */
static uint32_t number_texts(struct column_work *w, const struct parquet_values *v,
			     const struct rows *r)
{
	uint32_t n = r->constant ? 1 : r->count, count = 0;
	const uint32_t *codes = v->values;

	memset(w->map, 0, v->text_count * sizeof(*w->map));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t code = codes[r->at ? r->at[i] : i];

		if (code >= v->text_count) {
			w->error = -EINVAL;
			return 0;
		}
		if (!w->map[code]) {
			size_t begin = w->page.len;

			bytes_put(&w->page, "\0\0\0", 4);
			text_put(&w->page, v->texts[code].bytes, v->texts[code].len);
			if (!w->page.failed)
				store_le(w->page.data + begin, w->page.len - begin - 4, 4);
			w->map[code] = ++count;
		}
		w->indexes[i] = w->map[code] - 1;
	}
	return count;
}

/* Statistics and the bloom filter of the dictionary in w->page. */
static void look_at_texts(struct column_work *w, const struct parquet_column *c, uint32_t count,
			  struct chunk *k)
{
	const uint8_t *p = w->page.data, *min = NULL, *max = NULL;
	uint32_t min_len = 0, max_len = 0;
	struct bloom b = { 0 };

	if (c->bloom)
		b = bloom_put(&w->blooms, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t len = load_le32(p);
		int low = min ? memcmp(p + 4, min, len < min_len ? len : min_len) : -1;
		int high = max ? memcmp(p + 4, max, len < max_len ? len : max_len) : 1;

		if (low < 0 || (!low && len < min_len)) {
			min = p + 4;
			min_len = len;
		}
		if (high > 0 || (!high && len > max_len)) {
			max = p + 4;
			max_len = len;
		}
		if (c->bloom)
			bloom_add(&b, p + 4, len);
		p += 4 + len;
	}
	k->bloom_len = (uint32_t)(w->blooms.len - k->bloom);
	bound(k, min, max, min_len, max_len);
}

static void put_texts(struct column_work *w, const struct parquet_column *c,
		      const struct parquet_values *v, struct rows *r, struct chunk *k)
{
	uint32_t count = number_texts(w, v, r);

	if (w->error || w->page.failed)
		return;
	if (count) {
		look_at_texts(w, c, count, k);
		put_dictionary(w, c, r, count, k);
	} else {
		put_levels(w, c, r);
		put_page(w, k, PAGE_DATA, r->all, ENCODING_PLAIN);
	}
}

/* ---- the column ------------------------------------------------------------------------------ */

static struct rows rows_present(struct column_work *w, const uint8_t *present,
				const uint32_t *order, uint32_t rows)
{
	struct rows r = { order, rows, rows, false };

	if (!present || !memchr(present, 0, rows))
		return r;
	r.at = w->picked;
	r.count = 0;
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t at = order ? order[i] : i;

		w->flags[i] = present[at] != 0;
		w->picked[r.count] = at;
		r.count += w->flags[i];
	}
	return r;
}

static bool make_room(struct column_work *w, uint32_t rows, uint32_t texts)
{
	if (rows > w->rows) {
		w->rows = rows;
		w->ints = reallocarray(w->ints, rows, sizeof(*w->ints));
		w->indexes = reallocarray(w->indexes, rows + 7, sizeof(*w->indexes));
		w->picked = reallocarray(w->picked, rows, sizeof(*w->picked));
		w->flags = realloc(w->flags, rows);
	}
	if (texts > w->map_size) {
		w->map_size = texts;
		w->map = reallocarray(w->map, texts, sizeof(*w->map));
	}
	return (!w->rows || (w->ints && w->indexes && w->picked && w->flags)) &&
	       (!w->map_size || w->map);
}

void column_put(struct column_work *w, const struct parquet_column *c,
		const struct parquet_values *v, const uint32_t *order, uint32_t rows,
		struct chunk *k)
{
	size_t width = c->type == PARQUET_BOOLEAN ? 1 : c->type == PARQUET_INT64 ? 8 : 4;
	struct rows r;

	if (!make_room(w, rows, v->text_count)) {
		w->error = -ENOMEM;
		return;
	}
	r = rows_present(w, v->present, order, rows);
	if (r.count < rows && !c->optional) {
		w->error = -EINVAL;
		return;
	}
	r.constant = r.count == rows && rows > 1 &&
		     !memcmp(v->values, (const char *)v->values + width, (rows - 1) * width);
	*k = (struct chunk){ .start = w->written + w->out.len, .bloom = w->blooms.len };
	k->rows = rows;
	k->nulls = rows - r.count;
	if (c->type == PARQUET_BOOLEAN)
		put_booleans(w, c, v->values, &r, k);
	else if (c->type == PARQUET_TEXT)
		put_texts(w, c, v, &r, k);
	else
		put_ints(w, c, v->values, &r, k);
	if (w->page.failed || w->packed.failed || w->levels.failed || w->blooms.failed)
		w->error = -ENOMEM;
}
