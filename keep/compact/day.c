// SPDX-License-Identifier: GPL-2.0
/* Day: see day.h. */
#include "day.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/directory.h"
#include "common/log.h"
#include "concat.h"
#include "keep/place/table_name.h"
#include "keep/place/place.h"

void day_line(const struct day_file *f, char line[DAY_LINE_MAX])
{
	snprintf(line, DAY_LINE_MAX, "%lld %lld %s\n", (long long)f->st.st_mtim.tv_sec,
		 (long long)f->rows, f->name);
}

bool day_has_rows_of(const struct day *d, const struct day_file *f)
{
	char line[DAY_LINE_MAX];

	day_line(f, line);
	for (unsigned int i = 0; i < d->count; i++) {
		const char *at = d->list[i].sources;

		if (&d->list[i] == f)
			continue;
		for (; at && (at = strstr(at, line)); at++)
			if (at == d->list[i].sources || at[-1] == '\n')
				return true;
	}
	return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Returns 1: it belongs to the day, 0: it does not, or -errno. */
static int read_file(struct day_file *f, int folder, const char *path, struct seen *left)
{
	int fd = openat(folder, f->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err;
	struct parquet_facts facts;
	char all[PATH_MAX];

	if (fd < 0)
		return errno == ENOENT || errno == ELOOP || errno == ENXIO ? 0 : -errno;
	snprintf(all, sizeof(all), "%s/%s", path, f->name);
	if (fstat(fd, &f->st) || !S_ISREG(f->st.st_mode) || seen_has(left, all, &f->st.st_mtim)) {
		close(fd);
		return 0;
	}
	err = parquet_facts(fd, DAY_SOURCES, DAY_PROGRAM, &facts);
	close(fd);
	if (err == -ENOMEM)
		return err;
	if (err) {
		log_line("%s: malformed; it is left as it is", all);
		return seen_note(left, all, &f->st.st_mtim);
	}
	f->sources = facts.value;
	f->rows = facts.rows;
	f->schema = facts.schema;
	return facts.is_ours;
}

static int add(struct day *d, int folder, const char *name, const char *path, struct seen *left)
{
	struct day_file f = { .name = strdup(name) };
	int err;

	if (!f.name)
		return -ENOMEM;
	if (d->count == d->room) {
		unsigned int room = 2 * d->room + 16;
		struct day_file *longer = realloc(d->list, room * sizeof(*longer));

		if (longer) {
			d->list = longer;
			d->room = room;
		}
	}
	err = d->count < d->room ? read_file(&f, folder, path, left) : -ENOMEM;
	if (err > 0) {
		d->list[d->count++] = f;
		return 0;
	}
	free(f.name);
	free(f.sources);
	return err;
}

/* A part is where its first source was. */
static const char *first_name(const struct day_file *f, size_t *len)
{
	const char *at = f->sources ? strchr(f->sources, ' ') : NULL;

	at = at ? strchr(at + 1, ' ') : NULL;
	at = at ? at + 1 : f->name;
	*len = strcspn(at, "\n");
	return at;
}

static int by_name(const void *a, const void *b)
{
	size_t one_len, other_len, least;
	const char *one = first_name(a, &one_len), *other = first_name(b, &other_len);
	int differ;

	least = one_len < other_len ? one_len : other_len;
	differ = memcmp(one, other, least) ?: (one_len > other_len) - (one_len < other_len);
	return differ
		       ?: strcmp(((const struct day_file *)a)->name,
				 ((const struct day_file *)b)->name);
}

int day_read(struct day *d, int folder, const char *path, struct seen *left)
{
	DIR *listing = directory_list(folder);
	struct dirent *e;
	int err = 0;

	*d = (struct day){ .list = NULL };
	if (!listing)
		return -errno;
	while (!err && (e = readdir(listing))) {
		unsigned int number = table_part(e->d_name);

		if (!strcmp(e->d_name, PLACE_NEW(TABLE_ENDING)))
			unlinkat(folder, e->d_name, 0);
		if (!directory_ending(e->d_name, TABLE_ENDING))
			continue;
		if (number > d->last_part)
			d->last_part = number;
		if (table_is_text(e->d_name)) /* metadata are UTF-8 */
			err = add(d, folder, e->d_name, path, left);
	}
	closedir(listing);
	if (d->count)
		qsort(d->list, d->count, sizeof(*d->list), by_name);
	return err;
}

void day_free(struct day *d)
{
	for (unsigned int i = 0; i < d->count; i++) {
		free(d->list[i].name);
		free(d->list[i].sources);
	}
	free(d->list);
	*d = (struct day){ .list = NULL };
}
