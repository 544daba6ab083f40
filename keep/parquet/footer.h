/* SPDX-License-Identifier: GPL-2.0 */
/* The end of a file: FileMetaData (parquet.thrift). */
#ifndef KEEP_PARQUET_FOOTER_H
#define KEEP_PARQUET_FOOTER_H

#include "page.h"
#include "parquet.h"

#define PARQUET_MAGIC "PAR1"

struct footer {
	struct bytes schema, orders; /* Thrift lists */
	struct bytes groups;	     /* a list without its head */
	uint32_t group_count;
	int64_t rows;
};

void footer_schema(struct footer *f, const struct parquet_column *columns, uint32_t count);

/* The filters begin at `blooms` in the file. */
void footer_row_group(struct footer *f, const struct parquet_column *columns, uint32_t count,
		      const struct chunk *chunks, uint32_t rows, uint64_t blooms);

/* Appends all to `out`, with its length and the magic. */
void footer_put(const struct footer *f, struct bytes *out, const struct parquet_pair *pairs,
		uint32_t pair_count, const char *created_by);
void footer_free(struct footer *f);

#endif
