// SPDX-License-Identifier: GPL-2.0
/* Table: see table.h. */
#include "table.h"

#include <errno.h>
#include <stdlib.h>

#include "common/version.h"

#define CREATED_BY "saluki-keep " SALUKI_VERSION

static size_t width(enum parquet_type type)
{
	return type == PARQUET_BOOLEAN ? 1 : type == PARQUET_INT64 ? 8 : 4;
}

static int column_init(struct table *t, uint32_t i)
{
	const struct table_column *c = &t->columns[i];

	t->schema[i] = c->of;
	t->values[i] = calloc(PARQUET_ROWS, width(c->of.type));
	if (c->of.optional)
		t->present[i] = calloc(PARQUET_ROWS, 1);
	if (!t->values[i] || (c->of.optional && !t->present[i]))
		return -ENOMEM;
	return c->of.type == PARQUET_TEXT && !c->is_address ? texts_init(&t->texts[i]) : 0;
}

int table_open(struct table *t, const struct table_column *columns, uint32_t count, int by_text,
	       int by_time, int fd)
{
	int err;

	*t = (struct table){ .columns = columns,
			     .count = count,
			     .by_text = by_text,
			     .by_time = by_time,
			     .generation = 1 };
	t->order = malloc(PARQUET_ROWS * sizeof(*t->order));
	err = t->order ? texts_init(&t->addresses) : -ENOMEM;
	for (uint32_t i = 0; !err && i < count; i++)
		err = column_init(t, i);
	return err ?: parquet_open(&t->file, fd, t->schema, count);
}

void table_free(struct table *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		free(t->values[i]);
		free(t->present[i]);
		texts_free(&t->texts[i]);
	}
	texts_free(&t->addresses);
	free(t->order);
	parquet_free(t->file);
	*t = (struct table){ .file = NULL };
}

/* ---- the order ------------------------------------------------------------------------------- */

struct ranked {
	const struct parquet_text *text;
	uint32_t number;
};

static int by_text(const void *a, const void *b)
{
	const struct parquet_text *one = ((const struct ranked *)a)->text;
	const struct parquet_text *other = ((const struct ranked *)b)->text;
	uint32_t least = one->len < other->len ? one->len : other->len;

	return memcmp(one->bytes, other->bytes, least)
		       ?: (one->len > other->len) - (one->len < other->len);
}

/* Puts the rows with each text together. `begins`: by the text's number, where its rows begin; then
 * where they end. */
static int order_by_text(struct table *t, uint32_t *begins)
{
	const struct texts *texts = &t->texts[t->by_text];
	const uint32_t *numbers = t->values[t->by_text];
	struct ranked *ranked = malloc((texts->count + 1) * sizeof(*ranked));
	uint32_t begin = 0;

	if (!ranked)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->rows; i++)
		begins[numbers[i]]++;
	for (uint32_t i = 0; i < texts->count; i++)
		ranked[i] = (struct ranked){ .text = &texts->list[i], .number = i };
	qsort(ranked, texts->count, sizeof(*ranked), by_text);
	for (uint32_t i = 0; i < texts->count; i++) {
		uint32_t rows = begins[ranked[i].number];

		begins[ranked[i].number] = begin;
		begin += rows;
	}
	free(ranked);
	for (uint32_t i = 0; i < t->rows; i++)
		t->order[begins[numbers[i]]++] = i;
	return 0;
}

static int by_time(const void *a, const void *b, void *times)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	const int64_t *of = times;

	if (of[one] != of[other])
		return of[one] < of[other] ? -1 : 1;
	return one < other ? -1 : one > other;
}

/* Frames of one sensor mostly are in the order of time. */
static void order_by_time(struct table *t, uint32_t from, uint32_t to)
{
	int64_t *times = t->values[t->by_time];

	for (uint32_t i = from + 1; i < to; i++) {
		if (times[t->order[i]] >= times[t->order[i - 1]])
			continue;
		qsort_r(t->order + from, to - from, sizeof(*t->order), by_time, times);
		return;
	}
}

static int order(struct table *t)
{
	uint32_t texts = t->by_text < 0 ? 0 : t->texts[t->by_text].count, from = 0;
	const uint32_t *numbers = t->by_text < 0 ? NULL : t->values[t->by_text];
	uint32_t *begins = calloc(texts + 1, sizeof(*begins));
	int err = begins ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < t->rows; i++)
		t->order[i] = i;
	if (!err && numbers)
		err = order_by_text(t, begins);
	while (!err && from < t->rows) {
		uint32_t to = numbers ? begins[numbers[t->order[from]]] : t->rows;

		order_by_time(t, from, to);
		from = to;
	}
	free(begins);
	return err;
}

/* ---- row groups ------------------------------------------------------------------------------ */

static void reset(struct table *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		if (t->present[i])
			memset(t->present[i], 0, t->rows);
		if (t->texts[i].slots)
			texts_reset(&t->texts[i]);
	}
	texts_reset(&t->addresses);
	t->written += t->rows;
	t->rows = 0;
	t->generation++;
}

static int write_group(struct table *t)
{
	struct parquet_values values[TABLE_COLUMNS_MAX];
	int err = t->failed ? -ENOMEM : order(t);

	for (uint32_t i = 0; i < t->count; i++) {
		const struct texts *texts = t->columns[i].is_address ? &t->addresses : &t->texts[i];

		values[i] = (struct parquet_values){ .values = t->values[i],
						     .present = t->present[i],
						     .texts = texts->list,
						     .text_count = texts->count };
	}
	err = err ?: parquet_row_group(t->file, values, t->order, t->rows);
	reset(t);
	return err;
}

int table_row(struct table *t)
{
	return ++t->rows == PARQUET_ROWS ? write_group(t) : 0;
}

int table_close(struct table *t, const struct parquet_pair *pairs, uint32_t pair_count)
{
	int err = t->rows ? write_group(t) : 0;
	int end = parquet_close(t->file, pairs, pair_count, CREATED_BY);

	t->file = NULL;
	return err ?: end;
}
