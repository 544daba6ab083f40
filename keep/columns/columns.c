// SPDX-License-Identifier: GPL-2.0
/* Columns: see columns.h. */
#include "columns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/file_time.h"
#include "dwells.h"
#include "events.h"
#include "frames.h"
#include "keep/place/table_name.h"

#define FOLDER_MODE 0750

const char *const columns_names[COLUMNS_TABLES + 1] = {
	[COLUMNS_FRAMES] = "frames",	     [COLUMNS_TRANSMISSIONS] = "transmissions",
	[COLUMNS_RECEPTIONS] = "receptions", [COLUMNS_EVENTS] = "events",
	[COLUMNS_COVERAGE] = "coverage",
};

static int (*const open_table[COLUMNS_TABLES])(struct table *t, int fd) = {
	[COLUMNS_FRAMES] = frames_open,		[COLUMNS_TRANSMISSIONS] = transmissions_open,
	[COLUMNS_RECEPTIONS] = receptions_open, [COLUMNS_EVENTS] = events_open,
	[COLUMNS_COVERAGE] = dwells_open,
};

void columns_begin(struct columns *c, int folder, const char *stem, const struct stat *file)
{
	*c = (struct columns){ .folder = folder, .stem = stem };
	snprintf(c->file, sizeof(c->file), "%s.pcapng", stem);
	day_of(file_time_ns(file), c->day);
	for (int i = 0; i < COLUMNS_TABLES; i++) {
		c->of[i].day = -1;
		c->of[i].place.fd = -1;
	}
}

/* Opens a folder, and makes it if needed. Returns a descriptor or -errno. */
static int open_folder(int at, const char *name)
{
	int fd, made = mkdirat(at, name, FOLDER_MODE);

	if ((made && errno != EEXIST) || (!made && fsync(at)))
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* A table's file begins with its first row. */
static int begin(struct columns *c, enum columns_table table)
{
	struct columns_of *of = &c->of[table];
	char name[NAME_MAX + 1];
	int folder, err;

	if (of->begun)
		return 0;
	if (snprintf(name, sizeof(name), "%s" TABLE_ENDING, c->stem) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	folder = open_folder(c->folder, columns_names[table]);
	if (folder < 0)
		return folder;
	of->day = open_folder(folder, c->day);
	close(folder);
	if (of->day < 0)
		return of->day;
	err = place_open(&of->place, of->day, name);
	if (err)
		return err;
	of->begun = true;
	return open_table[table](&of->table, of->place.fd);
}

/* ---- rows ------------------------------------------------------------------------------------ */

int columns_frame(struct columns *c, const struct row *r)
{
	int err;

	if (c->folder < 0)
		return 0;
	err = begin(c, COLUMNS_FRAMES);
	return err ?: frames_row(&c->of[COLUMNS_FRAMES].table, r, c->file);
}

/* A late reception's block is of a transmission that has a row already. */
int columns_transmission(struct columns *c, const struct row *r, const struct trace_receptions *of,
			 const char *(*sensor)(void *context, uint16_t id), void *context)
{
	const struct transmission_row x = { .trace = c->trace, .receptions = of };
	bool is_late = of->count == 1 && trace_reception(of, 0).flags & HEARD_LATE;
	int err;

	if (c->folder < 0)
		return 0;
	err = begin(c, COLUMNS_RECEPTIONS) ?: is_late ? 0 : begin(c, COLUMNS_TRANSMISSIONS);
	if (!err && !is_late)
		err = transmissions_row(&c->of[COLUMNS_TRANSMISSIONS].table, r, &x, c->file);
	for (uint32_t i = 0; !err && i < of->count; i++) {
		struct trace_reception one = trace_reception(of, i);

		err = receptions_row(&c->of[COLUMNS_RECEPTIONS].table, r, &x, &one,
				     sensor(context, one.sensor));
	}
	return err;
}

int columns_event(struct columns *c, const char *line, size_t len)
{
	struct event_line e;

	if (c->folder < 0)
		return 0;
	if (event_line_read(&e, line, len)) {
		c->bad_events++;
		return 0;
	}
	return begin(c, COLUMNS_EVENTS) ?: events_row(&c->of[COLUMNS_EVENTS].table, &e, c->file);
}

int columns_statistics(struct columns *c, const struct section_interface *i,
		       const struct pcapng_block *b)
{
	struct dwell_row d;
	int err;

	if (c->folder < 0 || !dwell_read(&d, i, *b))
		return 0;
	err = begin(c, COLUMNS_COVERAGE);
	return err ?: dwells_row(&c->of[COLUMNS_COVERAGE].table, i, &d, c->file);
}

/* ---- the end --------------------------------------------------------------------------------- */

int columns_finish(struct columns *c, const struct stat *file)
{
	int err = 0;

	for (int i = 0; !err && i < COLUMNS_TABLES; i++)
		if (c->of[i].begun)
			err = table_close(&c->of[i].table, NULL, 0)
				      ?: place_sync(&c->of[i].place, file);
	return err;
}

int columns_put(struct columns *c)
{
	int err = 0;

	for (int i = 0; !err && i < COLUMNS_TABLES; i++) {
		if (!c->of[i].begun)
			continue;
		err = place_put(&c->of[i].place);
		if (!err && fsync(c->of[i].day))
			err = -errno;
	}
	return err;
}

void columns_end(struct columns *c)
{
	for (int i = 0; i < COLUMNS_TABLES; i++) {
		if (c->of[i].begun)
			table_free(&c->of[i].table);
		place_drop(&c->of[i].place);
		if (c->of[i].day >= 0)
			close(c->of[i].day);
	}
}
