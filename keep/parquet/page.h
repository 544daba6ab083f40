/* SPDX-License-Identifier: GPL-2.0 */
/* Compresses pages and appends them to the file; records what the footer needs. */
#ifndef KEEP_PARQUET_PAGE_H
#define KEEP_PARQUET_PAGE_H

#include "bytes.h"

#define BOUND_MAX 256 /* bytes; of longer texts there are no statistics */

enum page_type { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum page_encoding {
	ENCODING_PLAIN = 0,
	ENCODING_RLE = 3,
	ENCODING_DELTA = 5,
	ENCODING_RLE_DICTIONARY = 8,
};

struct chunk {
	uint64_t start, data; /* offsets in the file: of the first page, of the values' page */
	uint64_t raw, packed; /* bytes of the pages, with heads */
	uint64_t bloom;	      /* offset behind the row group */
	uint32_t bloom_len;   /* 0: none */
	uint32_t rows, nulls;
	enum page_encoding encoding; /* of the values' page */
	bool bounded;
	uint32_t min_len, max_len;
	uint8_t min[BOUND_MAX], max[BOUND_MAX];
};

struct pages {
	struct bytes out; /* the end of the file, not yet written */
	uint64_t written; /* bytes of the file before it */
	int error;	  /* 0 or -errno */
	struct bytes body, packed;
	void *zstd; /* ZSTD_CCtx */
};

/* Appends p->body to `out` as a page of `count` values, and empties it. */
void page_put(struct pages *p, struct chunk *k, enum page_type type, uint32_t count,
	      enum page_encoding encoding);

#endif
