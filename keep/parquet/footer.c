// SPDX-License-Identifier: GPL-2.0
/* The end of a file: FileMetaData (parquet.thrift). */
#include <endian.h>
#include <string.h>

#include "internal.h"
#include "wire/bytes.h"

enum { LOGICAL_STRING = 1, LOGICAL_TIMESTAMP = 8, LOGICAL_INTEGER = 10 };
enum { CONVERTED_UTF8 = 0, CONVERTED_UINT8 = 11, NANOS = 3, CODEC_ZSTD = 6 };

/* Writes ConvertedType, for old readers, and LogicalType. ConvertedType has the integers in the
 * order of enum parquet_logical. */
static void put_logical(struct thrift *t, const struct parquet_column *c)
{
	bool is_text = c->type == PARQUET_TEXT, is_time = c->logical == PARQUET_TIMESTAMP_NS;
	int nth = (int)c->logical - PARQUET_UINT8;
	struct thrift kind, type, unit;

	if (!is_text && c->logical == PARQUET_PLAIN_TYPE)
		return;
	if (!is_time)
		thrift_int(t, 6, THRIFT_I32, is_text ? CONVERTED_UTF8 : CONVERTED_UINT8 + nth);
	kind = thrift_struct(t, 10);
	type = thrift_struct(&kind, is_text   ? LOGICAL_STRING
				    : is_time ? LOGICAL_TIMESTAMP
					      : LOGICAL_INTEGER);
	if (is_time) {
		thrift_field(&type, 1, THRIFT_FALSE); /* not adjusted to UTC: without a zone */
		unit = thrift_struct(&type, 2);
		thrift_empty(&unit, NANOS);
		thrift_stop(&unit);
	} else if (!is_text) {
		thrift_field(&type, 1, THRIFT_I8);
		bytes_put(type.out, &(uint8_t){ (uint8_t)(8 << nth % 4) }, 1);
		thrift_field(&type, 2, c->logical >= PARQUET_INT8 ? THRIFT_TRUE : THRIFT_FALSE);
	}
	thrift_stop(&type);
	thrift_stop(&kind);
}

void footer_schema(struct footer *f, const struct parquet_column *columns, uint32_t count)
{
	struct thrift root = { &f->schema, 0 };

	thrift_list_head(&f->schema, THRIFT_STRUCT, count + 1);
	thrift_text(&root, 4, "schema", 6);
	thrift_int(&root, 5, THRIFT_I32, count);
	thrift_stop(&root);
	thrift_list_head(&f->orders, THRIFT_STRUCT, count);
	for (const struct parquet_column *c = columns; c < columns + count; c++) {
		struct thrift t = { &f->schema, 0 }, order = { &f->orders, 0 };

		thrift_int(&t, 1, THRIFT_I32, c->type);
		thrift_int(&t, 3, THRIFT_I32, c->optional);
		thrift_text(&t, 4, c->name, strlen(c->name));
		put_logical(&t, c);
		thrift_stop(&t);
		thrift_empty(&order, 1); /* as the type says */
		thrift_stop(&order);
	}
}

void footer_chunk(struct footer *f, const struct parquet_column *c, const struct chunk *k,
		  const struct bytes *bounds)
{
	struct thrift chunk = { &f->groups, 0 }, t, statistics;

	thrift_int(&chunk, 2, THRIFT_I64, 0); /* no longer used, but required */
	t = thrift_struct(&chunk, 3);
	thrift_int(&t, 1, THRIFT_I32, c->type);
	thrift_list(&t, 2, THRIFT_I32, k->has_dictionary ? 3 : 2);
	bytes_varint(t.out, zigzag(ENCODING_PLAIN));
	bytes_varint(t.out, zigzag(ENCODING_RLE));
	if (k->has_dictionary)
		bytes_varint(t.out, zigzag(ENCODING_RLE_DICTIONARY));
	thrift_list(&t, 3, THRIFT_BINARY, 1);
	bytes_varint(t.out, strlen(c->name));
	bytes_put(t.out, c->name, strlen(c->name));
	thrift_int(&t, 4, THRIFT_I32, CODEC_ZSTD);
	thrift_int(&t, 5, THRIFT_I64, k->rows);
	thrift_int(&t, 6, THRIFT_I64, (int64_t)k->raw);
	thrift_int(&t, 7, THRIFT_I64, (int64_t)k->packed);
	thrift_int(&t, 9, THRIFT_I64, (int64_t)k->data);
	if (k->has_dictionary)
		thrift_int(&t, 11, THRIFT_I64, (int64_t)k->start);
	statistics = thrift_struct(&t, 12);
	thrift_int(&statistics, 3, THRIFT_I64, k->nulls);
	bytes_put(t.out, bounds->data, bounds->len);
	thrift_stop(&statistics);
	if (k->bloom_len) {
		thrift_int(&t, 14, THRIFT_I64, (int64_t)(k->start + k->packed));
		thrift_int(&t, 15, THRIFT_I32, (int64_t)k->bloom_len);
	}
	thrift_stop(&t);
	thrift_stop(&chunk);
}

void footer_put(const struct footer *f, struct bytes *out, const struct parquet_pair *pairs,
		uint32_t pair_count, const char *created_by)
{
	struct thrift t = { out, 0 };
	uint32_t begin = (uint32_t)out->len, length;

	thrift_int(&t, 1, THRIFT_I32, 2); /* version: logical types are there */
	thrift_field(&t, 2, THRIFT_LIST);
	bytes_put(out, f->schema.data, f->schema.len);
	thrift_int(&t, 3, THRIFT_I64, f->rows);
	thrift_list(&t, 4, THRIFT_STRUCT, f->group_count);
	bytes_put(out, f->groups.data, f->groups.len);
	thrift_list(&t, 5, THRIFT_STRUCT, pair_count);
	for (uint32_t i = 0; i < pair_count; i++) {
		struct thrift pair = { out, 0 };

		thrift_text(&pair, 1, pairs[i].key, strlen(pairs[i].key));
		thrift_text(&pair, 2, pairs[i].value, strlen(pairs[i].value));
		thrift_stop(&pair);
	}
	thrift_text(&t, 6, created_by, strlen(created_by));
	thrift_field(&t, 7, THRIFT_LIST);
	bytes_put(out, f->orders.data, f->orders.len);
	thrift_stop(&t);
	length = htole32((uint32_t)out->len - begin);
	bytes_put(out, &length, 4);
	bytes_put(out, PARQUET_MAGIC, 4);
	out->failed |= f->schema.failed | f->orders.failed | f->groups.failed;
}
