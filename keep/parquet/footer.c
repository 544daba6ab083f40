// SPDX-License-Identifier: GPL-2.0
#include "footer.h"

#include <string.h>

#include "thrift.h"
#include "wire/bytes.h"

enum {
	CONVERTED_UINT8 = 11,
	LOGICAL_STRING = 1,
	LOGICAL_TIMESTAMP = 8,
	LOGICAL_INTEGER = 10,
	NANOS = 3,
	ZSTD = 6
};

/* Writes ConvertedType, for old readers, and LogicalType. ConvertedType has the integers in the
 * order of enum parquet_logical. */
static void put_logical(struct thrift *t, const struct parquet_column *c)
{
	int nth = (int)c->logical - PARQUET_UINT8;
	struct thrift kind, type, unit;

	if (c->type != PARQUET_TEXT && c->logical == PARQUET_PLAIN_TYPE)
		return;
	if (c->type == PARQUET_TEXT)
		thrift_int(t, 6, THRIFT_I32, 0); /* UTF8 */
	else if (c->logical != PARQUET_TIMESTAMP_NS)
		thrift_int(t, 6, THRIFT_I32, CONVERTED_UINT8 + nth);
	kind = thrift_struct(t, 10);
	if (c->type == PARQUET_TEXT) {
		thrift_empty(&kind, LOGICAL_STRING);
	} else if (c->logical == PARQUET_TIMESTAMP_NS) {
		type = thrift_struct(&kind, LOGICAL_TIMESTAMP);
		thrift_bool(&type, 1, false); /* not adjusted to UTC: shown without a zone */
		unit = thrift_struct(&type, 2);
		thrift_empty(&unit, NANOS);
		thrift_stop(&unit);
		thrift_stop(&type);
	} else {
		type = thrift_struct(&kind, LOGICAL_INTEGER);
		thrift_i8(&type, 1, (int8_t)(8 << nth % 4));
		thrift_bool(&type, 2, c->logical >= PARQUET_INT8);
		thrift_stop(&type);
	}
	thrift_stop(&kind);
}

void footer_schema(struct footer *f, const struct parquet_column *columns, uint32_t count)
{
	struct thrift root = { &f->schema, 0 };

	thrift_list_head(&f->schema, THRIFT_STRUCT, count + 1);
	thrift_text(&root, 4, "schema");
	thrift_int(&root, 5, THRIFT_I32, count);
	thrift_stop(&root);
	thrift_list_head(&f->orders, THRIFT_STRUCT, count);
	for (const struct parquet_column *c = columns; c < columns + count; c++) {
		struct thrift t = { &f->schema, 0 }, order = { &f->orders, 0 };

		thrift_int(&t, 1, THRIFT_I32, c->type);
		thrift_int(&t, 3, THRIFT_I32, c->optional);
		thrift_text(&t, 4, c->name);
		put_logical(&t, c);
		thrift_stop(&t);
		thrift_empty(&order, 1); /* as the type says */
		thrift_stop(&order);
	}
}

static void put_statistics(struct thrift *t, const struct chunk *k)
{
	struct thrift s = thrift_struct(t, 12);

	thrift_int(&s, 3, THRIFT_I64, k->nulls);
	if (k->bounded) {
		thrift_binary(&s, 5, k->max, k->max_len);
		thrift_binary(&s, 6, k->min, k->min_len);
		thrift_bool(&s, 7, true); /* exact */
		thrift_bool(&s, 8, true);
	}
	thrift_stop(&s);
}

static void put_chunk(struct bytes *out, const struct parquet_column *c, const struct chunk *k,
		      uint64_t blooms)
{
	bool dictionary = k->encoding == ENCODING_RLE_DICTIONARY;
	struct thrift chunk = { out, 0 }, t;

	thrift_int(&chunk, 2, THRIFT_I64, 0); /* no longer used, but required */
	t = thrift_struct(&chunk, 3);
	thrift_int(&t, 1, THRIFT_I32, c->type);
	thrift_list(&t, 2, THRIFT_I32, dictionary ? 3 : 2);
	thrift_varint(out, zigzag(k->encoding));
	thrift_varint(out, zigzag(ENCODING_RLE));
	if (dictionary)
		thrift_varint(out, zigzag(ENCODING_PLAIN));
	thrift_list(&t, 3, THRIFT_BINARY, 1);
	thrift_varint(out, strlen(c->name));
	bytes_put(out, c->name, strlen(c->name));
	thrift_int(&t, 4, THRIFT_I32, ZSTD);
	thrift_int(&t, 5, THRIFT_I64, k->rows);
	thrift_int(&t, 6, THRIFT_I64, (int64_t)k->raw);
	thrift_int(&t, 7, THRIFT_I64, (int64_t)k->packed);
	thrift_int(&t, 9, THRIFT_I64, (int64_t)k->data);
	if (dictionary)
		thrift_int(&t, 11, THRIFT_I64, (int64_t)k->start);
	put_statistics(&t, k);
	if (k->bloom_len) {
		thrift_int(&t, 14, THRIFT_I64, (int64_t)(blooms + k->bloom));
		thrift_int(&t, 15, THRIFT_I32, k->bloom_len);
	}
	thrift_stop(&t);
	thrift_stop(&chunk);
}

void footer_row_group(struct footer *f, const struct parquet_column *columns, uint32_t count,
		      const struct chunk *chunks, uint32_t rows, uint64_t blooms)
{
	struct thrift t = { &f->groups, 0 };
	uint64_t raw = 0, packed = 0;

	thrift_list(&t, 1, THRIFT_STRUCT, count);
	for (uint32_t i = 0; i < count; i++) {
		put_chunk(&f->groups, &columns[i], &chunks[i], blooms);
		raw += chunks[i].raw;
		packed += chunks[i].packed;
	}
	thrift_int(&t, 2, THRIFT_I64, (int64_t)raw);
	thrift_int(&t, 3, THRIFT_I64, rows);
	thrift_int(&t, 5, THRIFT_I64, (int64_t)chunks[0].start);
	thrift_int(&t, 6, THRIFT_I64, (int64_t)packed);
	thrift_stop(&t);
	f->group_count++;
	f->rows += rows;
}

void footer_put(const struct footer *f, struct bytes *out, const struct parquet_pair *pairs,
		uint32_t pair_count, const char *created_by)
{
	struct thrift t = { out, 0 };
	uint8_t end[8] = "\0\0\0\0" PARQUET_MAGIC;
	size_t begin = out->len;

	thrift_int(&t, 1, THRIFT_I32, 2); /* version: logical types are there */
	thrift_field(&t, 2, THRIFT_LIST);
	bytes_put(out, f->schema.data, f->schema.len);
	thrift_int(&t, 3, THRIFT_I64, f->rows);
	thrift_list(&t, 4, THRIFT_STRUCT, f->group_count);
	bytes_put(out, f->groups.data, f->groups.len);
	thrift_list(&t, 5, THRIFT_STRUCT, pair_count);
	for (uint32_t i = 0; i < pair_count; i++) {
		struct thrift pair = { out, 0 };

		thrift_text(&pair, 1, pairs[i].key);
		thrift_text(&pair, 2, pairs[i].value);
		thrift_stop(&pair);
	}
	thrift_text(&t, 6, created_by);
	thrift_field(&t, 7, THRIFT_LIST);
	bytes_put(out, f->orders.data, f->orders.len);
	thrift_stop(&t);
	store_le(end, out->len - begin, 4);
	bytes_put(out, end, 8);
	out->failed |= f->schema.failed | f->orders.failed | f->groups.failed;
}

void footer_free(struct footer *f)
{
	bytes_free(&f->schema);
	bytes_free(&f->orders);
	bytes_free(&f->groups);
}
