// SPDX-License-Identifier: GPL-2.0
/* The file: magic; row groups, each with its columns and their bloom filters; footer. */
#include "parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "column.h"
#include "footer.h"

#define WRITE_BYTES (1 << 20)

struct parquet {
	const struct parquet_column *columns;
	struct chunk *chunks; /* by column */
	uint32_t count;
	int fd;
	struct footer footer;
	struct column_work work;
};

static bool valid(const struct parquet_column *c)
{
	bool narrow = c->logical == PARQUET_UINT8 || c->logical == PARQUET_UINT16 ||
		      c->logical == PARQUET_UINT32 || c->logical >= PARQUET_INT8;

	if (c->bloom && c->type != PARQUET_TEXT)
		return false;
	if (c->type == PARQUET_INT32)
		return narrow || c->logical == PARQUET_PLAIN_TYPE;
	if (c->type == PARQUET_INT64)
		return !narrow;
	return c->logical == PARQUET_PLAIN_TYPE;
}

int parquet_open(struct parquet **file, int fd, const struct parquet_column *columns,
		 uint32_t column_count)
{
	struct parquet *f;

	*file = NULL;
	for (uint32_t i = 0; i < column_count; i++)
		if (!valid(&columns[i]))
			return -EINVAL;
	if (!column_count)
		return -EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->chunks = calloc(column_count, sizeof(*f->chunks));
	f->work.pages.zstd = ZSTD_createCCtx();
	if (!f->chunks || !f->work.pages.zstd) {
		parquet_free(f);
		return -ENOMEM;
	}
	f->columns = columns;
	f->count = column_count;
	f->fd = fd;
	footer_schema(&f->footer, columns, column_count);
	bytes_put(&f->work.pages.out, PARQUET_MAGIC, 4);
	*file = f;
	return 0;
}

static void flush(struct parquet *f)
{
	struct pages *p = &f->work.pages;

	p->written += p->out.len;
	if (!p->error)
		p->error = bytes_write(&p->out, f->fd);
}

int parquet_row_group(struct parquet *f, const struct parquet_values *values, const uint32_t *order,
		      uint32_t rows)
{
	struct column_work *w = &f->work;

	if (rows > PARQUET_ROWS_MAX && !w->pages.error)
		w->pages.error = -EINVAL;
	w->blooms.len = 0;
	for (uint32_t i = 0; rows && i < f->count && !w->pages.error; i++) {
		column_put(w, &f->columns[i], &values[i], order, rows, &f->chunks[i]);
		if (w->pages.out.len >= WRITE_BYTES)
			flush(f);
	}
	if (!rows || w->pages.error)
		return w->pages.error;
	footer_row_group(&f->footer, f->columns, f->count, f->chunks, rows, parquet_size(f));
	bytes_put(&w->pages.out, w->blooms.data, w->blooms.len);
	return 0;
}

uint64_t parquet_size(const struct parquet *f)
{
	return f->work.pages.written + f->work.pages.out.len;
}

int parquet_close(struct parquet *f, const struct parquet_pair *pairs, uint32_t pair_count,
		  const char *created_by)
{
	int err;

	footer_put(&f->footer, &f->work.pages.out, pairs, pair_count, created_by);
	flush(f);
	err = f->work.pages.error;
	parquet_free(f);
	return err;
}

void parquet_free(struct parquet *f)
{
	if (!f)
		return;
	footer_free(&f->footer);
	column_work_free(&f->work);
	ZSTD_freeCCtx(f->work.pages.zstd);
	free(f->chunks);
	free(f);
}
