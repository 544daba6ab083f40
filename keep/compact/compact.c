// SPDX-License-Identifier: GPL-2.0
/* Compact: see compact.h. */
#include "compact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/log.h"
#include "common/stop.h"
#include "common/version.h"
#include "concat.h"
#include "days.h"
#include "keep/place/place.h"
#include "plan.h"

#define CREATED_BY "saluki-keep " SALUKI_VERSION

struct work {
	struct compact *c;
	uint64_t min_free;
};

/* One part. */
struct part {
	struct day *day;
	int folder;
	const char *path; /* of the folder, for messages */
	struct place place;
	struct parquet_concat *concat;
	struct bytes sources;
	const struct stat *newest;
	int64_t rows;
	unsigned int count;
};

/* ---- a part ---------------------------------------------------------------------------------- */

static int open_source(const struct part *p, const struct day_file *f)
{
	struct stat st;
	int fd = openat(p->folder, f->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_size == f->st.st_size && st.st_ino == f->st.st_ino)
		return fd;
	close(fd);
	return -ESTALE;
}

/* Malformed files and those that changed are left out. */
static int add(struct part *p, struct day_file *f, struct seen *left)
{
	char line[DAY_LINE_MAX], path[PATH_MAX];
	int fd, err = stop_wait(-1, 0, 0);

	if (err < 0)
		return err;
	fd = open_source(p, f);
	err = fd < 0 ? fd : parquet_concat_add(p->concat, fd);
	if (fd >= 0)
		close(fd);
	if (err == -EBADMSG || err == -EINVAL || err == -ESTALE || err == -ENOENT) {
		f->is_chosen = false;
		if (err == -ESTALE || err == -ENOENT)
			return 0;
		snprintf(path, sizeof(path), "%s/%s", p->path, f->name);
		log_line("%s: malformed; it is left as it is", path);
		return seen_note(left, path, &f->st.st_mtim);
	}
	if (err)
		return err;
	if (f->sources)
		bytes_put(&p->sources, f->sources, strlen(f->sources));
	day_line(f, line);
	bytes_put(&p->sources, line, strlen(line));
	if (!p->newest || f->st.st_mtime > p->newest->st_mtime)
		p->newest = &f->st;
	p->rows += f->rows;
	p->count++;
	return p->sources.failed ? -ENOMEM : 0;
}

/* Writes the footer, and checks that the part has all rows. */
static int finish(struct part *p)
{
	struct parquet_pair pair = { DAY_SOURCES, NULL };
	int64_t rows;
	char *value;
	int err;

	bytes_put(&p->sources, "", 1);
	if (p->sources.failed)
		return -ENOMEM;
	pair.value = (const char *)p->sources.data;
	err = parquet_concat_end(p->concat, &pair, 1, CREATED_BY);
	p->concat = NULL;
	err = err ?: parquet_key_value(p->place.fd, DAY_SOURCES, &value, &rows);
	if (err)
		return err;
	err = rows == p->rows && value && !strcmp(value, pair.value) ? 0 : -EBADMSG;
	free(value);
	return err ?: place_sync(&p->place, p->newest);
}

static int delete_sources(const struct part *p)
{
	for (unsigned int i = 0; i < p->day->count; i++) {
		const struct day_file *f = &p->day->list[i];

		if (f->is_chosen && unlinkat(p->folder, f->name, 0) && errno != ENOENT)
			return -errno;
	}
	return 0;
}

/* Returns 1: a part was made; 0: fewer than two files are left to be joined; or -errno. */
static int make(struct part *p, struct seen *left)
{
	char name[32];
	int err;

	snprintf(name, sizeof(name), "part-%05u.parquet", p->day->last_part + 1);
	err = place_open(&p->place, p->folder, name)
		      ?: parquet_concat_begin(&p->concat, p->place.fd);
	for (unsigned int i = 0; !err && i < p->day->count; i++)
		if (p->day->list[i].is_chosen)
			err = add(p, &p->day->list[i], left);
	if (err || p->count < 2)
		return err;
	err = finish(p) ?: place_put(&p->place);
	if (!err && fsync(p->folder))
		err = -errno;
	err = err ?: delete_sources(p);
	if (!err)
		log_info("%s: joined %u files into %s", p->path, p->count, name);
	return err ?: 1;
}

/* ---- a day ----------------------------------------------------------------------------------- */

static int has_room(int folder, uint64_t bytes)
{
	struct statvfs fs;

	if (fstatvfs(folder, &fs))
		return -errno;
	return (uint64_t)fs.f_bavail * fs.f_frsize > bytes ? 0 : -ENOSPC;
}

/* Sources that a killed program left, and columns of a capture file that was packed again. */
static void drop_doubles(struct day *d, int folder)
{
	for (unsigned int i = 0; i < d->count;) {
		struct day_file *f = &d->list[i];

		if (!day_has_rows_of(d, f) || (unlinkat(folder, f->name, 0) && errno != ENOENT)) {
			i++;
			continue;
		}
		free(f->name);
		free(f->sources);
		memmove(f, f + 1, (--d->count - i) * sizeof(*f));
	}
}

static int compact_files(struct work *w, struct day *d, int folder, const char *path)
{
	struct part p = {
		.day = d, .folder = folder, .path = path, .place = { .folder = folder, .fd = -1 }
	};
	uint64_t bytes;
	int result;

	drop_doubles(d, folder);
	bytes = plan(d, COMPACT_BYTES);
	if (!bytes)
		return 0;
	result = has_room(folder, bytes + w->min_free) ?: make(&p, &w->c->left);
	if (result == -ENOSPC)
		w->c->wanted = bytes;
	if (result > 0)
		w->c->files += p.count;
	parquet_concat_free(p.concat);
	place_drop(&p.place);
	bytes_free(&p.sources);
	return result ?: 1; /* 0: some were left out; there may be another plan */
}

static int compact_day(void *context, int table, int folder, const char *table_name,
		       const char *name)
{
	struct work *w = context;
	char path[128];
	struct stat st;
	struct day d;
	int result;

	(void)table;
	snprintf(path, sizeof(path), "%s/%s", table_name, name);
	if (fstat(folder, &st) || seen_has(&w->c->settled, path, &st.st_mtim))
		return 0;
	result = day_read(&d, folder, path, &w->c->left)
			 ?: d.count > 1 ? compact_files(w, &d, folder, path)
					: 0;
	day_free(&d);
	/* Without a new part, only what was deleted may have changed the folder. */
	if (!result && !fstat(folder, &st))
		result = seen_note(&w->c->settled, path, &st.st_mtim);
	return result;
}

int compact(struct compact *c, const char *before, uint64_t min_free)
{
	struct work w = { c, min_free };
	int result;

	if (flock(c->folder, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	c->wanted = 0;
	result = days_visit_all(c->folder, c->tables, before, compact_day, &w);
	flock(c->folder, LOCK_UN);
	return result;
}

void compact_end(struct compact *c)
{
	seen_free(&c->settled);
	seen_free(&c->left);
}
