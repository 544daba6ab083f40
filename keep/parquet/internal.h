/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of this folder share, also with keep/compact/. */
#ifndef KEEP_PARQUET_INTERNAL_H
#define KEEP_PARQUET_INTERNAL_H

#include "common/buffer.h"
#include "parquet.h"

#define PARQUET_MAGIC "PAR1"

enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_RLE_DICTIONARY = 8 };

void bytes_varint(struct bytes *b, uint64_t v);
/* Sets the 4 bytes at `at` to the length of what follows them. */
void bytes_set_length(struct bytes *b, size_t at);
/* Appends values below 2^width, lowest bit first; zeros fill the last group of 8. Width 1 to 32. */
void bytes_pack(struct bytes *b, const uint32_t *v, size_t n, int width);
/* Appends any bytes as printable UTF-8 (struct parquet_text). */
void text_put(struct bytes *out, const char *bytes, size_t len);
/* Appends the bloom filter of texts that are in PLAIN encoding. */
void bloom_put(struct bytes *out, const struct bytes *texts, uint32_t count);

/* Types of Thrift's compact protocol. A boolean field's type is its value. */
enum { THRIFT_TRUE = 1, THRIFT_FALSE, THRIFT_I8, THRIFT_I16, THRIFT_I32, THRIFT_I64 };
enum { THRIFT_DOUBLE = 7, THRIFT_BINARY, THRIFT_LIST, THRIFT_SET, THRIFT_MAP, THRIFT_STRUCT };

/* Writes the fields of one struct in ascending order: begins as { out, 0 }. */
struct thrift {
	struct bytes *out;
	int id; /* the last field's */
};

void thrift_field(struct thrift *t, int id, int type);
void thrift_int(struct thrift *t, int id, int type, int64_t v); /* I16, I32, I64 */
void thrift_text(struct thrift *t, int id, const void *text, size_t len);
void thrift_list(struct thrift *t, int id, int of, uint32_t count);
void thrift_list_head(struct bytes *out, int of, uint32_t count);
struct thrift thrift_struct(struct thrift *t, int id);
void thrift_empty(struct thrift *t, int id); /* a struct without fields */
void thrift_stop(struct thrift *t);	     /* ends a struct */

/* A column of a row group: what the footer needs. */
struct chunk {
	uint64_t start, data; /* offsets in the file: of the first page, of the values' page */
	uint64_t raw, packed; /* bytes of the pages, with heads */
	size_t bloom_len;     /* the filter follows the pages; 0: none */
	uint32_t rows, nulls;
	bool has_dictionary;
};

struct footer {
	struct bytes schema, orders; /* Thrift lists */
	struct bytes groups;	     /* a list without its head */
	uint32_t group_count;
	int64_t rows;
};

void footer_schema(struct footer *f, const struct parquet_column *columns, uint32_t count);
/* `bounds`: of the column's Statistics. */
void footer_chunk(struct footer *f, const struct parquet_column *c, const struct chunk *k,
		  const struct bytes *bounds);
/* Appends all to `out`, with its length and the magic. */
void footer_put(const struct footer *f, struct bytes *out, const struct parquet_pair *pairs,
		uint32_t pair_count, const char *created_by);

struct parquet {
	const struct parquet_column *columns;
	uint32_t count;
	int fd, error;	  /* error: 0 or -errno */
	struct bytes out; /* the end of the file, not yet written */
	uint64_t written; /* bytes of the file before it */
	struct footer footer;
	void *zstd; /* ZSTD_CCtx */
	/* Memory that all columns use in turn: */
	struct bytes body, packed, bloom, bounds;
	int64_t x[PARQUET_ROWS];	/* values of the rows that have one */
	int64_t distinct[PARQUET_ROWS]; /* the dictionary: integers, or codes of texts */
	uint32_t numbers[PARQUET_ROWS]; /* by value: its number in the dictionary */
	uint32_t picked[PARQUET_ROWS];	/* rows that have a value */
	uint32_t flags[PARQUET_ROWS];	/* by row: 1 if it has a value */
	uint32_t slots[PARQUET_TEXTS];	/* a hash table of numbers from 1 */
};

/* Appends a column's pages and its filter to `out`. Errors are in `error`. */
void column_put(struct parquet *f, const struct parquet_column *c, const struct parquet_values *v,
		const uint32_t *order, uint32_t rows, struct chunk *k);

#endif
