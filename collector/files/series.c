// SPDX-License-Identifier: GPL-2.0
/* Series: see series.h. */
#include "series.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/directory.h"

/* The parts that all names share: before "_NNNNN", and the ending. */
struct series_parts {
	char front[PATH_MAX]; /* with the folder */
	const char *end;
	size_t folder; /* length of the folder in it, with the slash */
	bool has_time; /* front has conversions of strftime(3); else a time stamp follows */
};

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct series series_of(const struct collector_options *o, bool is_dir)
{
	return (struct series){ .path = o->write,
				.is_dir = is_dir,
				.has_time = o->rotate_s && !is_dir &&
					    strchr(base_of(o->write), '%') };
}

static int parts(const struct series *s, struct series_parts *p)
{
	const char *dot = s->is_dir ? NULL : strrchr(base_of(s->path), '.');
	size_t len;
	int n;

	if (s->has_time && dot && strchr(dot, '%'))
		dot = NULL; /* as in %Y.%m.%d */
	len = dot ? (size_t)(dot - s->path) : strlen(s->path);
	p->end = dot ?: ".pcapng";
	p->has_time = s->has_time;
	if (s->is_dir)
		n = snprintf(p->front, sizeof(p->front), "%s%ssaluki", s->path,
			     s->path[len - 1] == '/' ? "" : "/");
	else
		n = snprintf(p->front, sizeof(p->front), "%.*s", (int)len, s->path);
	p->folder = base_of(p->front) - p->front;
	return n < (int)sizeof(p->front) ? 0 : -ENAMETOOLONG;
}

/* ---- new names ------------------------------------------------------------------------------- */

int series_name(const struct series *s, unsigned int number, char *name, size_t size)
{
	struct series_parts p;
	char text[NAME_MAX + 1];
	time_t now = time(NULL);
	struct tm tm;
	int n = parts(s, &p);

	if (n)
		return n;
	localtime_r(&now, &tm);
	if (!strftime(text, sizeof(text), p.has_time ? p.front + p.folder : "%Y%m%d%H%M%S", &tm))
		return -ENAMETOOLONG;
	if (p.has_time)
		n = snprintf(name, size, "%.*s%s_%05u%s", (int)p.folder, p.front, text, number,
			     p.end);
	else
		n = snprintf(name, size, "%s_%05u_%s%s", p.front, number, text, p.end);
	return n < (int)size ? 0 : -ENAMETOOLONG;
}

/* ---- existing names -------------------------------------------------------------------------- */

/* Returns the text after a name's front; NULL if it is not that of this series. */
static const char *front_skip(const struct series_parts *p, const char *name)
{
	const char *front = p->front + p->folder;
	struct tm tm = { 0 };

	if (p->has_time)
		return strptime(name, front, &tm);
	return strncmp(name, front, strlen(front)) ? NULL : name + strlen(front);
}

/* The files that saluki-keep makes of one of a series have its name with these endings. */
enum form { FORM_NONE, FORM_FILE, FORM_COMPRESSED, FORM_INDEX };

static enum form form_of(const struct series_parts *p, const char *ending)
{
	size_t len = strlen(p->end);

	if (!strcmp(ending, p->end))
		return FORM_FILE;
	if (strcmp(p->end, ARCHIVE_CAPTURE))
		return FORM_NONE;
	if (!strncmp(ending, p->end, len) && !strcmp(ending + len, ARCHIVE_COMPRESSED))
		return FORM_COMPRESSED;
	return strcmp(ending, ARCHIVE_INDEX) ? FORM_NONE : FORM_INDEX;
}

/* Returns the number in a name of this series; 0 for other names. Sets its form. */
static unsigned int number_of(const struct series_parts *p, const char *name, enum form *form)
{
	const char *at = front_skip(p, name);
	char file[NAME_MAX + 1];
	size_t digits = 0;

	if (!at || *at++ != '_')
		return 0;
	digits = strspn(at, "0123456789");
	if (!p->has_time) {
		if (!digits || at[digits] != '_')
			return 0;
		at += digits + 1;
		digits = strspn(at, "0123456789");
		if (digits != SERIES_STAMP)
			return 0;
	}
	*form = digits < 5 ? FORM_NONE : form_of(p, at + digits);
	if (*form == FORM_NONE)
		return 0;
	snprintf(file, sizeof(file), "%.*s%s", (int)(at + digits - name), name, p->end);
	return series_number(file);
}

const char *series_wrong(const struct series *s)
{
	static const char found[] =
		"its conversions cannot be read back from a name; use those such "
		"as %Y, %m, %d, %H, %M and %S";
	struct series_parts p;
	char name[PATH_MAX];
	char folder[PATH_MAX];
	enum form form;

	if (!s->has_time)
		return NULL;
	if (parts(s, &p) || series_name(s, 1, name, sizeof(name)))
		return "the name is too long";
	snprintf(folder, sizeof(folder), "%.*s", (int)p.folder, name);
	if (strlen(folder) != (size_t)(base_of(name) - name))
		return "a conversion makes a '/'; use those such as %Y, %m, %d, %H, %M and %S";
	return number_of(&p, base_of(name), &form) == 1 ? NULL : found;
}

int series_base(const struct series *s, char *base, size_t size)
{
	struct series_parts p;
	int n = parts(s, &p);

	if (n)
		return n;
	n = snprintf(base, size, "%s%s", p.front + p.folder, p.end);
	return n < (int)size ? 0 : -ENAMETOOLONG;
}

static int compare(const void *a, const void *b)
{
	const char *one = *(char *const *)a, *other = *(char *const *)b;

	return series_compare(one, other) ?: strcmp(one, other);
}

static int list_add(char ***list, int count, const struct series_parts *p, const char *name)
{
	char **longer = realloc(*list, (count + 1) * sizeof(**list));

	if (!longer)
		return -ENOMEM;
	*list = longer;
	if (asprintf(&longer[count], "%.*s%s", (int)p->folder, p->front, name) < 0)
		return -ENOMEM;
	return 0;
}

bool series_is_index(const char *name)
{
	return directory_ending(name, ARCHIVE_INDEX);
}

/* Drops the indexes of files that are there. An index is before its file. */
static int indexes_drop(char **list, int count)
{
	int kept = 0;

	for (int i = 0; i < count; i++) {
		if (i + 1 < count && series_is_index(list[i]) && !series_is_index(list[i + 1]) &&
		    series_number(list[i]) == series_number(list[i + 1]))
			free(list[i]);
		else
			list[kept++] = list[i];
	}
	return kept;
}

static void list_free(char **list, int count)
{
	while (list && count > 0)
		free(list[--count]);
	free(list);
}

/* Reads the folder once. Returns the number of files, or -errno; the caller frees the list. */
static int list_read(const struct series_parts *p, char ***list, unsigned int *next)
{
	struct dirent *e;
	char folder[PATH_MAX];
	int err = 0, count = 0;
	DIR *d;

	*list = NULL;
	snprintf(folder, sizeof(folder), "%.*s", (int)p->folder, p->front);
	d = opendir(p->folder ? folder : ".");
	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		enum form form;
		unsigned int number = number_of(p, e->d_name, &form);

		if (!number)
			continue;
		if (number >= *next)
			*next = number + 1;
		if (form == FORM_COMPRESSED)
			continue;
		err = list_add(list, count, p, e->d_name);
		count += !err;
	}
	closedir(d);
	if (count)
		qsort(*list, count, sizeof(**list), compare);
	if (!err)
		return indexes_drop(*list, count);
	list_free(*list, count);
	*list = NULL;
	return err;
}

static bool list_same(char **a, int count, char **b, int other)
{
	if (count != other || !a || !b)
		return count == other;
	for (int i = 0; i < count; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

/* saluki-keep makes an index before it removes the file. readdir(3) can have passed the place of
 * the new name, and then find the old one gone. If so, the next list differs. */
int series_list(const struct series *s, char ***list, unsigned int *next)
{
	struct series_parts p;
	char **before;
	int err = parts(s, &p), count, earlier;
	bool same;

	*list = NULL;
	*next = 1;
	if (err)
		return err;
	count = list_read(&p, list, next);
	do {
		if (count < 0)
			return count;
		before = *list;
		earlier = count;
		count = list_read(&p, list, next);
		same = list_same(before, earlier, *list, count);
		list_free(before, earlier);
	} while (!same);
	return count;
}

bool series_is_empty(int fd)
{
	uint32_t head[2]; /* the block's type and length */
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_SET) == 0 &&
	       read(fd, head, sizeof(head)) == sizeof(head) && head[0] == 0x0a0d0d0a &&
	       head[1] == st.st_size;
}
