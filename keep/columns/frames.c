// SPDX-License-Identifier: GPL-2.0
/* Frames: see frames.h. */
#include "frames.h"

#include "frame_columns.h"

enum {
	TIME,
	SENSOR,
	INTERFACE,
	OF_FRAME,
	UNSETTLED = OF_FRAME + FRAME_COLUMNS,
	RUN,
	COMBO,
	NUMBER,
	FILE_NAME,
	OFFSET,
	COLUMNS
};

static const struct table_column columns[] = {
	ALWAYS("time", PARQUET_INT64, PARQUET_TIMESTAMP_NS),
	ALWAYS("sensor", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	ALWAYS("interface", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	FRAME_COLUMN_DEFS,
	ALWAYS("unsettled", PARQUET_BOOLEAN, PARQUET_PLAIN_TYPE),
	OPTIONAL("run", PARQUET_INT64, PARQUET_UINT64),
	OPTIONAL("combo", PARQUET_INT64, PARQUET_UINT64),
	OPTIONAL("number", PARQUET_INT32, PARQUET_UINT32),
	ALWAYS("file", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	ALWAYS("file_offset", PARQUET_INT64, PARQUET_UINT64),
};

_Static_assert(sizeof(columns) / sizeof(*columns) == COLUMNS, "the rows of the table");

int frames_open(struct table *t, int fd)
{
	return table_open(t, columns, COLUMNS, SENSOR, TIME, fd);
}

/* An interface's names have the same numbers in all rows of a row group. */
static void names(struct table *t, struct section_interface *i)
{
	if (i->texts_of != t->generation) {
		i->texts[0] = texts_number(&t->texts[SENSOR], i->sensor, strlen(i->sensor));
		i->texts[1] = texts_number(&t->texts[INTERFACE], i->name, strlen(i->name));
		i->texts_of = t->generation;
	}
	table_number(t, SENSOR, i->texts[0]);
	table_number(t, INTERFACE, i->texts[1]);
}

int frames_row(struct table *t, const struct row *r, const char *file)
{
	table_int64(t, TIME, r->ns);
	names(t, r->interface);
	frame_columns(t, OF_FRAME, r);
	table_bool(t, UNSETTLED, r->unsettled);
	if (r->combo) {
		table_int64(t, RUN, (int64_t)r->combo->run);
		table_int64(t, COMBO, (int64_t)r->combo->count);
		table_int32(t, NUMBER, (int32_t)r->number);
	}
	/* A file has one name: its first text. */
	table_number(t, FILE_NAME,
		     t->texts[FILE_NAME].count
			     ? 0
			     : texts_number(&t->texts[FILE_NAME], file, strlen(file)));
	table_int64(t, OFFSET, (int64_t)r->at);
	return table_row(t);
}
