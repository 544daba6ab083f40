/* SPDX-License-Identifier: GPL-2.0 */
/* A column of a row group: chooses the encoding, and makes pages, statistics and bloom filter. */
#ifndef KEEP_PARQUET_COLUMN_H
#define KEEP_PARQUET_COLUMN_H

#include "distinct.h"
#include "page.h"
#include "parquet.h"

/* Memory that all columns use in turn. */
struct column_work {
	struct pages pages;
	struct bytes blooms; /* filters, which follow the row group */
	uint32_t rows;	     /* room of these, in one piece of memory: */
	int64_t *ints;
	uint32_t *indexes; /* 7 more */
	uint32_t *picked;
	uint8_t *flags;
	uint32_t *map; /* from a text's code to its number in the dictionary; from 1 */
	uint32_t map_size;
	struct distinct distinct;
};

/* Appends a column's pages to pages.out. Errors are in pages.error. */
void column_put(struct column_work *w, const struct parquet_column *c,
		const struct parquet_values *v, const uint32_t *order, uint32_t rows,
		struct chunk *k);
void column_work_free(struct column_work *w);

#endif
