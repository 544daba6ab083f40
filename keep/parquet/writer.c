// SPDX-License-Identifier: GPL-2.0
/* The file: magic; row groups of columns, each with its bloom filter; footer. */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "internal.h"

#define WRITE_BYTES (64 << 10)

static bool valid(const struct parquet_column *c)
{
	bool wide = c->logical == PARQUET_TIMESTAMP_NS || c->logical == PARQUET_UINT64;

	if (c->bloom && c->type != PARQUET_TEXT)
		return false;
	return !c->logical || c->type == (wide ? PARQUET_INT64 : PARQUET_INT32);
}

int parquet_open(struct parquet **file, int fd, const struct parquet_column *columns,
		 uint32_t column_count)
{
	bool all_valid = column_count > 0;
	struct parquet *f;

	*file = NULL;
	for (uint32_t i = 0; i < column_count; i++)
		all_valid &= valid(&columns[i]);
	if (!all_valid)
		return -EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->zstd = ZSTD_createCCtx();
	if (!f->zstd) {
		free(f);
		return -ENOMEM;
	}
	f->columns = columns;
	f->count = column_count;
	f->fd = fd;
	footer_schema(&f->footer, columns, column_count);
	bytes_put(&f->out, PARQUET_MAGIC, 4);
	*file = f;
	return 0;
}

static void flush(struct parquet *f)
{
	f->written += f->out.len;
	f->error = f->error ?: bytes_write(&f->out, f->fd);
}

int parquet_row_group(struct parquet *f, const struct parquet_values *values, const uint32_t *order,
		      uint32_t rows)
{
	struct thrift group = { &f->footer.groups, 0 };
	uint64_t raw = 0;
	struct chunk k = { 0 };

	if (rows > PARQUET_ROWS && !f->error)
		f->error = -EINVAL;
	if (!rows || f->error)
		return f->error;
	thrift_list(&group, 1, THRIFT_STRUCT, f->count);
	for (uint32_t i = 0; i < f->count && !f->error; i++) {
		column_put(f, &f->columns[i], &values[i], order, rows, &k);
		footer_chunk(&f->footer, &f->columns[i], &k, &f->bounds);
		raw += k.raw;
		if (f->out.len >= WRITE_BYTES)
			flush(f);
	}
	thrift_int(&group, 2, THRIFT_I64, (int64_t)raw);
	thrift_int(&group, 3, THRIFT_I64, rows);
	thrift_stop(&group);
	f->footer.group_count++;
	f->footer.rows += rows;
	return f->error;
}

int parquet_close(struct parquet *f, const struct parquet_pair *pairs, uint32_t pair_count,
		  const char *created_by)
{
	int err;

	footer_put(&f->footer, &f->out, pairs, pair_count, created_by);
	flush(f);
	err = f->error;
	parquet_free(f);
	return err;
}

void parquet_free(struct parquet *f)
{
	if (!f)
		return;
	bytes_free(&f->out);
	bytes_free(&f->body);
	bytes_free(&f->packed);
	bytes_free(&f->bloom);
	bytes_free(&f->bounds);
	bytes_free(&f->footer.schema);
	bytes_free(&f->footer.orders);
	bytes_free(&f->footer.groups);
	ZSTD_freeCCtx(f->zstd);
	free(f);
}
