// SPDX-License-Identifier: GPL-2.0
/* Events: see events.h. */
#include "events.h"

#define FILE_NAME EVENT_MEMBERS /* a column behind those of a line's members */
#define COLUMNS (FILE_NAME + 1)

static const struct table_column columns[] = {
	[EVENT_TIME] = ALWAYS("time", PARQUET_INT64, PARQUET_TIMESTAMP_NS),
	[EVENT_SENSOR] = ALWAYS("sensor", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	[EVENT_INTERFACE] = OPTIONAL("interface", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	[EVENT_MODULE] = ALWAYS("module", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	[EVENT_SERIAL] = OPTIONAL("serial", PARQUET_INT64, PARQUET_UINT64),
	[EVENT_DIRECTION] = OPTIONAL("direction", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	[EVENT_DATA] = OPTIONAL("data", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	[EVENT_ID] = OPTIONAL("id", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	[FILE_NAME] = ALWAYS("file", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
};

_Static_assert(sizeof(columns) / sizeof(*columns) == COLUMNS, "the rows of the table");

int events_open(struct table *t, int fd)
{
	return table_open(t, columns, COLUMNS, EVENT_SENSOR, EVENT_TIME, fd);
}

int events_row(struct table *t, const struct event_line *e, const char *file)
{
	for (int i = 0; i < EVENT_MEMBERS; i++) {
		const struct event_value *v = &e->values[i];

		if (!(e->set & 1u << i))
			continue;
		if (columns[i].of.type == PARQUET_TEXT)
			table_text(t, i, v->text, v->len);
		else
			table_int64(t, i, (int64_t)v->number);
	}
	table_text(t, FILE_NAME, file, strlen(file));
	return table_row(t);
}
