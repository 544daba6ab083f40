/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Table: collects the rows of a Parquet file, and writes row groups of PARQUET_ROWS. Within a row
 * group, rows are sorted by two columns: a text, as the sensor, and a time.
 */
#ifndef KEEP_COLUMNS_TABLE_H
#define KEEP_COLUMNS_TABLE_H

#include <string.h>

#include "texts.h"

#define TABLE_COLUMNS_MAX 48

struct table_column {
	struct parquet_column of;
	bool is_address; /* a text whose dictionary is shared by all addresses of the table */
};

/* Columns whose rows may have no value, whose rows all have one, and of addresses. */
#define OPTIONAL(column_name, column_type, meaning)                                                \
	{                                                                                          \
		.of = {.name = (column_name),                                                      \
		       .type = (column_type),                                                      \
		       .logical = (meaning),                                                       \
		       .optional = true }                                                          \
	}
#define ALWAYS(column_name, column_type, meaning)                                                  \
	{                                                                                          \
		.of = {.name = (column_name), .type = (column_type), .logical = (meaning) }        \
	}
#define ADDRESS(column_name)                                                                       \
	{                                                                                          \
		.of = { .name = (column_name),                                                     \
			.type = PARQUET_TEXT,                                                      \
			.optional = true,                                                          \
			.bloom = true },                                                           \
		.is_address = true                                                                 \
	}

struct table {
	const struct table_column *columns;
	struct parquet_column schema[TABLE_COLUMNS_MAX];
	uint32_t count;
	int by_text, by_time; /* columns to sort by; by_text -1: only by time */
	uint32_t rows;	      /* that wait */
	uint32_t generation;  /* row groups so far, from 1: numbers of texts are those of one */
	uint64_t written;     /* rows in earlier row groups */
	void *values[TABLE_COLUMNS_MAX];
	uint8_t *present[TABLE_COLUMNS_MAX]; /* NULL: not optional */
	struct texts texts[TABLE_COLUMNS_MAX], addresses;
	uint32_t *order;
	bool failed; /* no memory for a text */
	struct parquet *file;
};

/* `fd` stays the caller's. Returns 0 or -errno; table_free() may follow in both cases. */
int table_open(struct table *t, const struct table_column *columns, uint32_t count, int by_text,
	       int by_time, int fd);
void table_free(struct table *t);
/* Ends a row. Columns that were not set have no value. Returns 0 or -errno. */
int table_row(struct table *t);
/* Writes what waits, and the footer. Returns 0 or -errno. */
int table_close(struct table *t, const struct parquet_pair *pairs, uint32_t pair_count);

/* Each sets a column of the present row. */
static inline void table_mark(struct table *t, int column)
{
	if (t->present[column])
		t->present[column][t->rows] = 1;
}

static inline void table_bool(struct table *t, int column, bool v)
{
	((uint8_t *)t->values[column])[t->rows] = v;
	table_mark(t, column);
}

static inline void table_int32(struct table *t, int column, int32_t v)
{
	((int32_t *)t->values[column])[t->rows] = v;
	table_mark(t, column);
}

static inline void table_int64(struct table *t, int column, int64_t v)
{
	((int64_t *)t->values[column])[t->rows] = v;
	table_mark(t, column);
}

/* `number`: of the column's texts, in this generation. */
static inline void table_number(struct table *t, int column, uint32_t number)
{
	t->failed |= number == TEXTS_NONE;
	((uint32_t *)t->values[column])[t->rows] = number;
	table_mark(t, column);
}

static inline void table_text(struct table *t, int column, const char *bytes, uint32_t len)
{
	table_number(t, column, texts_number(&t->texts[column], bytes, len));
}

/* Only a column with is_address. NULL: no value. */
static inline void table_address(struct table *t, int column, const uint8_t *address)
{
	if (address)
		table_number(t, column, texts_address(&t->addresses, address));
}

#endif
