/* SPDX-License-Identifier: GPL-2.0 */
/* A column of a row group: its pages, and what the footer says of them. */
#ifndef KEEP_PARQUET_COLUMN_H
#define KEEP_PARQUET_COLUMN_H

#include "bytes.h"
#include "distinct.h"
#include "parquet.h"

#define BOUND_MAX 256 /* bytes; of longer texts there are no statistics */

enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_RLE_DICTIONARY = 8 };

struct chunk {
	uint64_t start, data; /* offsets in the file: of the first page, of the values' page */
	uint64_t raw, packed; /* bytes of the pages, with heads */
	uint64_t bloom;	      /* offset in struct column_work.blooms */
	uint32_t bloom_len;   /* 0: none */
	uint32_t rows, nulls;
	bool dictionary, bounded;
	uint8_t encoding; /* of the values */
	uint32_t min_len, max_len;
	uint8_t min[BOUND_MAX], max[BOUND_MAX];
};

/* Memory that all columns use in turn. */
struct column_work {
	struct bytes out, blooms; /* what is to be written; filters, which follow the row group */
	uint64_t written;	  /* bytes of the file that are no longer in `out` */
	int error;
	struct bytes page, packed, levels;
	void *zstd;    /* ZSTD_CCtx */
	uint32_t rows; /* room of the arrays below */
	int64_t *ints;
	uint32_t *indexes, *picked;
	uint8_t *flags;
	uint32_t *map;
	uint32_t map_size;
	struct distinct distinct;
};

/* Appends a column's pages to `out`; -errno goes into `error`. */
void column_put(struct column_work *w, const struct parquet_column *c,
		const struct parquet_values *v, const uint32_t *order, uint32_t rows,
		struct chunk *k);

#endif
