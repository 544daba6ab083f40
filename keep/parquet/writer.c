// SPDX-License-Identifier: GPL-2.0
/* The file: magic; row groups of columns, each with its bloom filter; footer. */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "internal.h"

#define WRITE_BYTES (64 << 10)

#define MAY_BE(logical) (1U << (logical))

static bool valid(const struct parquet_column *c)
{
	uint32_t narrow = MAY_BE(PARQUET_UINT8) | MAY_BE(PARQUET_UINT16) | MAY_BE(PARQUET_UINT32) |
			  MAY_BE(PARQUET_INT8) | MAY_BE(PARQUET_INT16);
	uint32_t wide = MAY_BE(PARQUET_TIMESTAMP_NS) | MAY_BE(PARQUET_UINT64);
	uint32_t may = c->type == PARQUET_INT32 ? narrow : c->type == PARQUET_INT64 ? wide : 0;

	return (!c->logical || MAY_BE(c->logical) & may) && (!c->bloom || c->type == PARQUET_TEXT);
}

int parquet_open(struct parquet **file, int fd, const struct parquet_column *columns,
		 uint32_t column_count)
{
	struct parquet *f;

	for (uint32_t i = 0; i < column_count; i++)
		if (!valid(&columns[i]))
			return -EINVAL;
	if (!column_count)
		return -EINVAL;
	*file = f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = (struct parquet){ .columns = columns, .count = column_count, .fd = fd };
	f->zstd = ZSTD_createCCtx();
	f->x = malloc(PARQUET_ROWS * (2 * sizeof(*f->x) + 3 * sizeof(*f->flags)));
	if (!f->x || !f->zstd) {
		parquet_free(f);
		*file = NULL;
		return -ENOMEM;
	}
	f->distinct = f->x + PARQUET_ROWS;
	f->numbers = (uint32_t *)(f->distinct + PARQUET_ROWS);
	f->picked = f->numbers + PARQUET_ROWS;
	f->flags = f->picked + PARQUET_ROWS;
	footer_schema(&f->footer, columns, column_count);
	bytes_put(&f->out, PARQUET_MAGIC, 4);
	return 0;
}

static void flush(struct parquet *f)
{
	f->written += f->out.len;
	if (!f->error)
		f->error = bytes_write(&f->out, f->fd);
}

int parquet_row_group(struct parquet *f, const struct parquet_values *values, const uint32_t *order,
		      uint32_t rows)
{
	struct thrift group = { &f->footer.groups, 0 };
	uint64_t raw = 0;
	struct chunk k;

	if (rows > PARQUET_ROWS && !f->error)
		f->error = -EINVAL;
	if (!rows || f->error)
		return f->error;
	thrift_list(&group, 1, THRIFT_STRUCT, f->count);
	for (uint32_t i = 0; i < f->count && !f->error; i++) {
		column_put(f, &f->columns[i], &values[i], order, rows, &k);
		if (f->error)
			break;
		footer_chunk(&f->footer, &f->columns[i], &k);
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
	struct bytes *buffers[] = { &f->out, &f->body, &f->packed, &f->bloom };

	if (!f)
		return;
	for (int i = 0; i < 4; i++)
		bytes_free(buffers[i]);
	footer_free(&f->footer);
	ZSTD_freeCCtx(f->zstd);
	free(f->x);
	free(f->slots);
	free(f);
}
