// SPDX-License-Identifier: GPL-2.0
/* Transmissions: see transmissions.h. */
#include "transmissions.h"

#include "frame_columns.h"

/* ---- transmissions --------------------------------------------------------------------------- */

enum {
	TIME,
	TRACE,
	TRANSMISSION,
	RECEPTIONS,
	OF_FRAME,
	FILE_NAME = OF_FRAME + FRAME_COLUMNS,
	OFFSET,
	COLUMNS
};

static const struct table_column columns[] = {
	ALWAYS("time", PARQUET_INT64, PARQUET_TIMESTAMP_NS),
	OPTIONAL("trace", PARQUET_INT64, PARQUET_UINT64),
	ALWAYS("transmission", PARQUET_INT64, PARQUET_UINT64),
	ALWAYS("receptions", PARQUET_INT32, PARQUET_UINT32),
	FRAME_COLUMN_DEFS,
	ALWAYS("file", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	ALWAYS("file_offset", PARQUET_INT64, PARQUET_UINT64),
};

_Static_assert(sizeof(columns) / sizeof(*columns) == COLUMNS, "the rows of the table");

int transmissions_open(struct table *t, int fd)
{
	return table_open(t, columns, COLUMNS, -1, TIME, fd);
}

int transmissions_row(struct table *t, const struct row *r, const struct transmission_row *x,
		      const char *file)
{
	table_int64(t, TIME, r->ns);
	if (x->trace)
		table_int64(t, TRACE, (int64_t)x->trace);
	table_int64(t, TRANSMISSION, (int64_t)x->receptions->number);
	table_int32(t, RECEPTIONS, (int32_t)x->receptions->count);
	frame_columns(t, OF_FRAME, r);
	table_text(t, FILE_NAME, file, strlen(file));
	table_int64(t, OFFSET, (int64_t)r->at);
	return table_row(t);
}

/* ---- receptions ------------------------------------------------------------------------------ */

enum {
	RECEPTION_TIME,
	RECEPTION_SENSOR,
	RECEPTION_INTERFACE,
	RECEPTION_TRACE,
	RECEPTION_TRANSMISSION,
	RECEPTION_SIGNAL,
	RECEPTION_FLAGS,
	RECEPTION_OFF,
	RECEPTION_SIGMA,
	RECEPTION_PART,
	RECEPTION_STAMP,
	RECEPTION_COLUMNS
};

static const struct table_column reception_columns[] = {
	ALWAYS("time", PARQUET_INT64, PARQUET_TIMESTAMP_NS),
	ALWAYS("sensor", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	ALWAYS("interface", PARQUET_INT32, PARQUET_UINT8),
	OPTIONAL("trace", PARQUET_INT64, PARQUET_UINT64),
	ALWAYS("transmission", PARQUET_INT64, PARQUET_UINT64),
	OPTIONAL("signal", PARQUET_INT32, PARQUET_INT8),
	ALWAYS("reception_flags", PARQUET_INT32, PARQUET_UINT8),
	ALWAYS("off_ns", PARQUET_INT32, PARQUET_PLAIN_TYPE),
	ALWAYS("sigma_ns", PARQUET_INT32, PARQUET_UINT32),
	ALWAYS("part", PARQUET_INT32, PARQUET_UINT16),
	ALWAYS("stamp", PARQUET_INT64, PARQUET_TIMESTAMP_NS),
};

_Static_assert(sizeof(reception_columns) / sizeof(*reception_columns) == RECEPTION_COLUMNS,
	       "the rows of the table");

int receptions_open(struct table *t, int fd)
{
	return table_open(t, reception_columns, RECEPTION_COLUMNS, RECEPTION_SENSOR, RECEPTION_TIME,
			  fd);
}

/* In the trace, a signal of 0 dBm is none. */
int receptions_row(struct table *t, const struct row *r, const struct transmission_row *x,
		   const struct trace_reception *of, const char *sensor)
{
	table_int64(t, RECEPTION_TIME, r->ns);
	table_text(t, RECEPTION_SENSOR, sensor, strlen(sensor));
	table_int32(t, RECEPTION_INTERFACE, of->interface);
	if (x->trace)
		table_int64(t, RECEPTION_TRACE, (int64_t)x->trace);
	table_int64(t, RECEPTION_TRANSMISSION, (int64_t)x->receptions->number);
	if (of->signal)
		table_int32(t, RECEPTION_SIGNAL, of->signal);
	table_int32(t, RECEPTION_FLAGS, of->flags);
	table_int32(t, RECEPTION_OFF, of->off_ns);
	table_int32(t, RECEPTION_SIGMA, (int32_t)of->sigma_ns);
	table_int32(t, RECEPTION_PART, of->part);
	table_int64(t, RECEPTION_STAMP, (int64_t)((uint64_t)r->ns + (uint64_t)of->stamp_ns));
	return table_row(t);
}
