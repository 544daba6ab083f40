// SPDX-License-Identifier: GPL-2.0
#include "column.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bloom.h"
#include "delta.h"
#include "hybrid.h"
#include "text.h"
#include "thrift.h"
#include "wire/bytes.h"

/* The rows that have a value, in order. */
struct rows {
	const uint32_t *at; /* NULL: 0, 1, 2... */
	uint32_t count, all;
	uint32_t differ; /* count; or 1: all values are the first one */
};

static void put_bounds(struct chunk *k, const void *min, uint32_t min_len, const void *max,
		       uint32_t max_len)
{
	k->bounded = min_len <= BOUND_MAX && max_len <= BOUND_MAX;
	if (!k->bounded)
		return;
	memcpy(k->min, min, k->min_len = min_len);
	memcpy(k->max, max, k->max_len = max_len);
}

/* Definition levels: 1 for each row that has a value. */
static void put_levels(struct column_work *w, const struct parquet_column *c, const struct rows *r)
{
	struct bytes *out = &w->pages.body;
	size_t begin;

	if (!c->optional)
		return;
	begin = bytes_begin(out);
	if (r->count == r->all || !r->count) {
		hybrid_put_run(out, r->count > 0, r->all, 1);
	} else {
		thrift_varint(out, (r->all + 7) / 8 << 1 | 1);
		hybrid_put_bits(out, w->flags, r->all);
	}
	bytes_end(out, begin);
}

/* The body has the dictionary; w->indexes refer to it. */
static void put_dictionary(struct column_work *w, const struct parquet_column *c,
			   const struct rows *r, uint32_t count, struct chunk *k)
{
	uint8_t width = (uint8_t)hybrid_width(count - 1);

	page_put(&w->pages, k, PAGE_DICTIONARY, count, ENCODING_PLAIN);
	put_levels(w, c, r);
	bytes_put(&w->pages.body, &width, 1);
	if (count == 1)
		hybrid_put_run(&w->pages.body, 0, r->count, width);
	else
		hybrid_put(&w->pages.body, w->indexes, r->count, width);
	page_put(&w->pages, k, PAGE_DATA, r->all, ENCODING_RLE_DICTIONARY);
}

/* ---- booleans -------------------------------------------------------------------------------- */

static void put_booleans(struct column_work *w, const struct parquet_column *c, const uint8_t *v,
			 const struct rows *r, struct chunk *k)
{
	uint8_t *x = (uint8_t *)w->ints, min = 1, max = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		x[i] = v[r->at ? r->at[i] : i] != 0;
		min &= x[i];
		max |= x[i];
	}
	if (r->count)
		put_bounds(k, &min, 1, &max, 1);
	put_levels(w, c, r);
	hybrid_put_bits(&w->pages.body, x, r->count);
	page_put(&w->pages, k, PAGE_DATA, r->all, ENCODING_PLAIN);
}

/* ---- integers -------------------------------------------------------------------------------- */

static const int64_t *pick(struct column_work *w, const struct parquet_column *c, const void *v,
			   const struct rows *r)
{
	const int64_t *wide = v;
	const int32_t *narrow = v;
	int64_t mask = c->logical == PARQUET_UINT32 ? (int64_t)UINT32_MAX : -1;

	if (c->type == PARQUET_INT64 && !r->at)
		return wide;
	for (uint32_t i = 0; i < r->differ; i++) {
		uint32_t at = r->at ? r->at[i] : i;

		w->ints[i] = c->type == PARQUET_INT64 ? wide[at] : narrow[at] & mask;
	}
	return w->ints;
}

static void put_plain(struct bytes *out, const int64_t *x, uint32_t n, size_t width)
{
	uint8_t *to = bytes_reserve(out, n * width);

	for (uint32_t i = 0; to && i < n; i++) {
		uint64_t le = htole64((uint64_t)x[i]);

		memcpy(to + i * width, &le, width);
	}
	out->len += to ? n * width : 0;
}

/* Looks for bounds and distinct values. Returns the size of the dictionary, 0: there is none. */
static uint32_t number_ints(struct column_work *w, const struct parquet_column *c, const int64_t *x,
			    const struct rows *r, struct chunk *k)
{
	int64_t flip = c->logical == PARQUET_UINT64 ? INT64_MIN : 0; /* compare as unsigned ones */
	int64_t min = INT64_MAX, max = INT64_MIN;
	uint32_t width = c->type == PARQUET_INT64 ? 8 : 4;
	uint64_t le[2];

	for (uint32_t i = 0; i < r->differ; i++) {
		min = (x[i] ^ flip) < min ? x[i] ^ flip : min;
		max = (x[i] ^ flip) > max ? x[i] ^ flip : max;
	}
	le[0] = htole64((uint64_t)(min ^ flip));
	le[1] = htole64((uint64_t)(max ^ flip));
	put_bounds(k, &le[0], width, &le[1], width);
	return distinct_find(&w->distinct, x, r->differ, min ^ flip, max ^ flip, r->count / 2,
			     w->indexes);
}

static void put_ints(struct column_work *w, const struct parquet_column *c, const void *v,
		     const struct rows *r, struct chunk *k)
{
	const int64_t *x = pick(w, c, v, r);
	uint32_t count = r->count ? number_ints(w, c, x, r, k) : 0;
	size_t width = c->type == PARQUET_INT64 ? 8 : 4;
	bool delta = c->type == PARQUET_INT64 && r->count;

	if (count) {
		put_plain(&w->pages.body, w->distinct.values, count, width);
		put_dictionary(w, c, r, count, k);
		return;
	}
	put_levels(w, c, r);
	if (delta)
		delta_put(&w->pages.body, x, r->count);
	else
		put_plain(&w->pages.body, x, r->count, width);
	page_put(&w->pages, k, PAGE_DATA, r->all, delta ? ENCODING_DELTA : ENCODING_PLAIN);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Makes the dictionary in the body. Returns how many texts it has. */
static uint32_t number_texts(struct column_work *w, const struct parquet_values *v,
			     const struct rows *r)
{
	const uint32_t *codes = v->values;
	uint32_t count = 0;

	memset(w->map, 0, v->text_count * sizeof(*w->map));
	for (uint32_t i = 0; i < r->differ; i++) {
		uint32_t code = codes[r->at ? r->at[i] : i];

		if (code >= v->text_count) {
			w->pages.error = -EINVAL;
			return 0;
		}
		if (!w->map[code]) {
			size_t begin = bytes_begin(&w->pages.body);

			text_put(&w->pages.body, v->texts[code].bytes, v->texts[code].len);
			bytes_end(&w->pages.body, begin);
			w->map[code] = ++count;
		}
		w->indexes[i] = w->map[code] - 1;
	}
	return count;
}

static int compare(const uint8_t *a, const uint8_t *b)
{
	uint32_t a_len = load_le32(a), b_len = load_le32(b);
	int differ = memcmp(a + 4, b + 4, a_len < b_len ? a_len : b_len);

	return differ ? differ : a_len < b_len ? -1 : a_len > b_len;
}

/* Statistics and the bloom filter of the dictionary in the body. */
static void look_at_texts(struct column_work *w, const struct parquet_column *c, uint32_t count,
			  struct chunk *k)
{
	const uint8_t *p = w->pages.body.data, *min = p, *max = p;
	struct bloom b = { NULL, 0 };

	if (c->bloom)
		b = bloom_put(&w->blooms, count);
	for (uint32_t i = 0; i < count; i++) {
		min = compare(p, min) < 0 ? p : min;
		max = compare(p, max) > 0 ? p : max;
		bloom_add(&b, p + 4, load_le32(p));
		p += 4 + load_le32(p);
	}
	k->bloom_len = (uint32_t)(w->blooms.len - k->bloom);
	put_bounds(k, min + 4, load_le32(min), max + 4, load_le32(max));
}

static void put_texts(struct column_work *w, const struct parquet_column *c,
		      const struct parquet_values *v, const struct rows *r, struct chunk *k)
{
	uint32_t count = number_texts(w, v, r);

	if (w->pages.error || w->pages.body.failed)
		return;
	if (count) {
		look_at_texts(w, c, count, k);
		put_dictionary(w, c, r, count, k);
	} else {
		put_levels(w, c, r);
		page_put(&w->pages, k, PAGE_DATA, r->all, ENCODING_PLAIN);
	}
}

/* ---- the column ------------------------------------------------------------------------------ */

static struct rows rows_present(struct column_work *w, const uint8_t *present,
				const uint32_t *order, uint32_t rows)
{
	struct rows r = { order, rows, rows, rows };

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
	r.differ = r.count;
	return r;
}

static bool make_room(struct column_work *w, uint32_t rows, uint32_t texts)
{
	if (rows > w->rows) {
		free(w->ints);
		w->ints = malloc((rows + 7) * (sizeof(*w->ints) + 2 * sizeof(*w->indexes) + 1));
		w->rows = w->ints ? rows : 0;
		w->indexes = (uint32_t *)(w->ints + rows);
		w->picked = w->indexes + rows + 7;
		w->flags = (uint8_t *)(w->picked + rows);
	}
	if (texts > w->map_size) {
		free(w->map);
		w->map = calloc(texts, sizeof(*w->map));
		w->map_size = w->map ? texts : 0;
	}
	return rows <= w->rows && texts <= w->map_size;
}

void column_put(struct column_work *w, const struct parquet_column *c,
		const struct parquet_values *v, const uint32_t *order, uint32_t rows,
		struct chunk *k)
{
	size_t width = c->type == PARQUET_BOOLEAN ? 1 : c->type == PARQUET_INT64 ? 8 : 4;
	struct rows r;

	if (!make_room(w, rows, v->text_count)) {
		w->pages.error = -ENOMEM;
		return;
	}
	r = rows_present(w, v->present, order, rows);
	if (r.count < rows && !c->optional) {
		w->pages.error = -EINVAL;
		return;
	}
	if (r.count == rows && rows > 1 &&
	    !memcmp(v->values, (const char *)v->values + width, (rows - 1) * width))
		r.differ = 1;
	*k = (struct chunk){ .start = w->pages.written + w->pages.out.len, .bloom = w->blooms.len };
	k->rows = rows;
	k->nulls = rows - r.count;
	if (c->type == PARQUET_BOOLEAN)
		put_booleans(w, c, v->values, &r, k);
	else if (c->type == PARQUET_TEXT)
		put_texts(w, c, v, &r, k);
	else
		put_ints(w, c, v->values, &r, k);
	if (w->pages.body.failed || w->pages.packed.failed || w->blooms.failed)
		w->pages.error = -ENOMEM;
}

void column_work_free(struct column_work *w)
{
	bytes_free(&w->pages.out);
	bytes_free(&w->pages.body);
	bytes_free(&w->pages.packed);
	bytes_free(&w->blooms);
	free(w->ints);
	free(w->map);
}
