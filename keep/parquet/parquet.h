/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes flat Parquet files in one pass: the descriptor need not be seekable. In each row group, a
 * column has one page of values, compressed by zstd. Texts, and integers with few distinct values,
 * have a dictionary. Numbers and short texts have min/max statistics. Sources: parquet.thrift,
 * Encodings.md and BloomFilter.md of parquet-format (2.10 on), and thrift-compact-protocol.md.
 *
 * Functions return 0 or -errno. After an error the file is incomplete: nothing more is written, and
 * parquet_row_group() and parquet_close() return the same error.
 */
#ifndef KEEP_PARQUET_PARQUET_H
#define KEEP_PARQUET_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARQUET_ROWS 122880	/* of a row group, at most */
#define PARQUET_TEXTS (1 << 20) /* of a column of it */

/* Parquet's numbers of the physical types. */
enum parquet_type { PARQUET_BOOLEAN = 0, PARQUET_INT32 = 1, PARQUET_INT64 = 2, PARQUET_TEXT = 6 };

/* How readers show an integer. Types of 8, 16 and 32 bits are for INT32, the others for INT64.
 * Timestamps are since 1970-01-01 UTC, shown without a zone. */
enum parquet_logical {
	PARQUET_PLAIN_TYPE,
	PARQUET_TIMESTAMP_NS,
	PARQUET_UINT8,
	PARQUET_UINT16,
	PARQUET_UINT32,
	PARQUET_UINT64,
	PARQUET_INT8,
	PARQUET_INT16
};

struct parquet_column {
	const char *name;
	enum parquet_type type;
	enum parquet_logical logical;
	bool optional; /* rows may have no value */
	bool bloom;    /* only for texts */
};

struct parquet_pair {
	const char *key, *value; /* UTF-8 */
};

/* Any bytes. The file has them as UTF-8 that is safe to print: each byte of a backslash, of a
 * control character (U+0000 to U+001F, U+007F to U+009F) and of invalid UTF-8 is written as \xNN,
 * with two lower-case hex digits. To get the bytes back, replace each \xNN. */
struct parquet_text {
	const char *bytes;
	uint32_t len;
};

/* A column's values in one row group. The caller owns all memory. */
struct parquet_values {
	/* By row: uint8_t (boolean), int32_t or int64_t; for texts, uint32_t indexes into `texts`.
	 * Values of rows that have none are ignored. */
	const void *values;
	/* By row: 0 if it has no value. NULL: all rows have one. */
	const uint8_t *present;
	/* Distinct texts. Only those that a row has are written. */
	const struct parquet_text *texts;
	uint32_t text_count;
};

struct parquet;

/* Begins a file on `fd`, which remains the caller's. `columns` must stay valid until the file is
 * closed. -EINVAL: no columns, or a column's type does not go with its logical type or filter. */
int parquet_open(struct parquet **file, int fd, const struct parquet_column *columns,
		 uint32_t column_count);

/*
 * Writes a row group; values[i] belongs to columns[i]. `order` is a permutation of the rows: row
 * order[0] is written first. NULL: as they are. Without rows nothing is written. -EINVAL: too many
 * rows or texts, a missing value in a column that is not optional, or an index outside of `texts`.
 */
int parquet_row_group(struct parquet *file, const struct parquet_values *values,
		      const uint32_t *order, uint32_t rows);

/* Writes the footer, unless there was an error, and frees `file`. `pairs` is the key/value
 * metadata. Readers parse `created_by` as "NAME version VERSION (build BUILD)". */
int parquet_close(struct parquet *file, const struct parquet_pair *pairs, uint32_t pair_count,
		  const char *created_by);

/* Frees `file` without a footer. NULL is fine. */
void parquet_free(struct parquet *file);

#endif
