// SPDX-License-Identifier: GPL-2.0
/* Dwells: see dwells.h. */
#include "dwells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "pcapng/build.h"

#define TEXT_MAX 256

/* saluki-files(5), Dwells */
static bool read_text(struct dwell_row *d, const struct pcapng_option *o)
{
	char text[TEXT_MAX];
	const char *at, *error;
	int end = 0;

	if (o->len >= sizeof(text))
		return false;
	memcpy(text, o->value, o->len);
	text[o->len] = 0;
	at = strstr(text, " (");
	if (strncmp(text, "channel ", 8) || !at)
		return false;
	if (sscanf(at,
		   " (%" SCNu32 " MHz, width %" SCNu32 ", center %" SCNu32 "), switch %" SCNu64
		   " ns, marked %" SCNu64 "%n",
		   &d->mhz, &d->width, &d->center, &d->switch_ns, &d->marked, &end) != 5)
		return false;
	error = strstr(at + end, ", error ");
	d->error = error ? strtoul(error + 8, NULL, 10) : 0;
	return true;
}

/* The high half of a time comes first. */
static int64_t read_time(const struct section_interface *i, const struct pcapng_block *b,
			 const struct pcapng_option *o)
{
	uint32_t half[2];

	memcpy(half, o->value, sizeof(half));
	if (b->swapped)
		half[0] = __builtin_bswap32(half[0]), half[1] = __builtin_bswap32(half[1]);
	return pcapng_ns((uint64_t)half[0] << 32 | half[1], i->ticks, i->offset_s);
}

bool dwell_read(struct dwell_row *d, const struct section_interface *i, struct pcapng_block b)
{
	struct pcapng_option o;
	bool is_dwell = false;
	unsigned int times = 0;

	*d = (struct dwell_row){ .frames = 0 };
	while (pcapng_option(&b, &o)) {
		if (o.code == OPT_COMMENT)
			is_dwell |= read_text(d, &o);
		if (o.len != 8)
			continue;
		if (o.code == ISB_START)
			d->start_ns = read_time(i, &b, &o);
		else if (o.code == ISB_END)
			d->stop_ns = read_time(i, &b, &o);
		else if (o.code == ISB_RECEIVED)
			memcpy(&d->frames, o.value, 8);
		times += o.code == ISB_START || o.code == ISB_END;
	}
	if (b.swapped)
		d->frames = __builtin_bswap64(d->frames);
	return is_dwell && times == 2;
}

enum {
	START,
	STOP,
	SENSOR,
	INTERFACE,
	FREQUENCY,
	WIDTH,
	CENTER,
	FRAMES,
	SWITCH,
	MARKED,
	ERROR,
	FILE_NAME,
	COLUMNS
};

static const struct table_column columns[] = {
	ALWAYS("start", PARQUET_INT64, PARQUET_TIMESTAMP_NS),
	ALWAYS("stop", PARQUET_INT64, PARQUET_TIMESTAMP_NS),
	ALWAYS("sensor", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	ALWAYS("interface", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
	ALWAYS("frequency", PARQUET_INT32, PARQUET_UINT32),
	ALWAYS("width", PARQUET_INT32, PARQUET_UINT32),
	ALWAYS("center", PARQUET_INT32, PARQUET_UINT32),
	ALWAYS("frames", PARQUET_INT64, PARQUET_UINT64),
	ALWAYS("switch_ns", PARQUET_INT64, PARQUET_UINT64),
	ALWAYS("marked", PARQUET_INT64, PARQUET_UINT64),
	OPTIONAL("error", PARQUET_INT32, PARQUET_UINT32),
	ALWAYS("file", PARQUET_TEXT, PARQUET_PLAIN_TYPE),
};

_Static_assert(sizeof(columns) / sizeof(*columns) == COLUMNS, "the rows of the table");

int dwells_open(struct table *t, int fd)
{
	return table_open(t, columns, COLUMNS, SENSOR, START, fd);
}

int dwells_row(struct table *t, const struct section_interface *i, const struct dwell_row *d,
	       const char *file)
{
	table_int64(t, START, d->start_ns);
	table_int64(t, STOP, d->stop_ns);
	table_text(t, SENSOR, i->sensor, strlen(i->sensor));
	table_text(t, INTERFACE, i->name, strlen(i->name));
	table_int32(t, FREQUENCY, (int32_t)d->mhz);
	table_int32(t, WIDTH, (int32_t)d->width);
	table_int32(t, CENTER, (int32_t)d->center);
	table_int64(t, FRAMES, (int64_t)d->frames);
	table_int64(t, SWITCH, (int64_t)d->switch_ns);
	table_int64(t, MARKED, (int64_t)d->marked);
	if (d->error)
		table_int32(t, ERROR, (int32_t)d->error);
	table_text(t, FILE_NAME, file, strlen(file));
	return table_row(t);
}
