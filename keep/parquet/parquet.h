/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes flat Parquet files, in one pass, to any descriptor. A row group has one page of values a
 * column, compressed by zstd, with min/max statistics. Texts and integers of few distinct values
 * have a dictionary; other 64-bit integers are deltas. Sources: parquet-format 2.11:
 * parquet.thrift, Encodings.md, BloomFilter.md, and the Thrift compact protocol
 * (thrift-compact-protocol.md).
 *
 * Functions return 0 or -errno. After an error nothing more is written, parquet_close() returns the
 * error again, and what was written is no Parquet file.
 */
#ifndef KEEP_PARQUET_PARQUET_H
#define KEEP_PARQUET_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARQUET_ROWS 122880	   /* of a usual row group */
#define PARQUET_ROWS_MAX (1 << 22) /* of any row group: a page has less than 2 GiB */

/* Parquet's numbers of the physical types. */
enum parquet_type {
	PARQUET_BOOLEAN = 0,
	PARQUET_INT32 = 1,
	PARQUET_INT64 = 2,
	PARQUET_TEXT = 6,
};

/* A reader's view of an integer. Of 8, 16 and 32 bits: INT32, else INT64. */
enum parquet_logical {
	PARQUET_PLAIN_TYPE,
	PARQUET_TIMESTAMP_NS, /* since 1970-01-01 UTC, shown without a zone */
	PARQUET_UINT8,
	PARQUET_UINT16,
	PARQUET_UINT32,
	PARQUET_UINT64,
	PARQUET_INT8,
	PARQUET_INT16,
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

/*
 * In the file a text is UTF-8 that any terminal may print. Bytes of something else, control
 * characters (U+0000 to U+001F, U+007F to U+009F) and backslashes are written as \xNN, each byte by
 * itself. Undo: replace each \xNN by its byte.
 */
struct parquet_text {
	const char *bytes;
	uint32_t len;
};

/* A column's values in one row group. The caller owns all. */
struct parquet_values {
	/* By row: uint8_t (0 or 1), int32_t, int64_t; or for texts the uint32_t indexes of `texts`.
	 */
	const void *values;		  /* ignored where a row has none */
	const uint8_t *present;		  /* by row: not 0: it has a value; NULL: all have one */
	const struct parquet_text *texts; /* distinct ones; those that no row has are not written */
	uint32_t text_count;
};

struct parquet;

/* Begins a file on `fd`, which remains the caller's, as `columns`, which must stay until the end.
 * -EINVAL: no columns, or types that contradict each other. */
int parquet_open(struct parquet **file, int fd, const struct parquet_column *columns,
		 uint32_t column_count);

/*
 * Writes a row group: `values[i]` are those of column i. Row `order[0]` is the first, unless
 * `order` is NULL; `order` has `rows` numbers below `rows`. 0 rows: nothing is written. -EINVAL:
 * too many rows, no value in a column that is not optional, a text's index that is too high.
 */
int parquet_row_group(struct parquet *file, const struct parquet_values *values,
		      const uint32_t *order, uint32_t rows);

/* Bytes of the file until now, written or about to be. */
uint64_t parquet_size(const struct parquet *file);

/* Writes the footer, with `pairs` as its key/value metadata, unless there was an error, and frees
 * `file`. Some readers look for known bugs in `created_by`: "NAME version VERSION (build BUILD)".
 */
int parquet_close(struct parquet *file, const struct parquet_pair *pairs, uint32_t pair_count,
		  const char *created_by);

/* Frees `file` without a footer. NULL is fine. */
void parquet_free(struct parquet *file);

#endif
