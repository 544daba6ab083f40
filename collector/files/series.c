// SPDX-License-Identifier: GPL-2.0
/* Series: see series.h. */
#include "series.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SERIES_STAMP 14 /* digits */

/* The parts that all names share: before "_NNNNN_", and after the time stamp. */
struct series_parts {
	char front[PATH_MAX]; /* with the folder */
	const char *end;
	size_t folder; /* length of the folder in it, with the slash */
};

static int parts(const struct series *s, struct series_parts *p)
{
	const char *slash = strrchr(s->path, '/'), *dot = strrchr(slash ? slash : s->path, '.');
	size_t len = dot && !s->is_dir ? (size_t)(dot - s->path) : strlen(s->path);
	int n;

	p->end = dot && !s->is_dir ? dot : ".pcapng";
	if (s->is_dir)
		n = snprintf(p->front, sizeof(p->front), "%s%ssaluki", s->path,
			     s->path[len - 1] == '/' ? "" : "/");
	else
		n = snprintf(p->front, sizeof(p->front), "%.*s", (int)len, s->path);
	slash = strrchr(p->front, '/');
	p->folder = slash ? slash + 1 - p->front : 0;
	return n < (int)sizeof(p->front) ? 0 : -ENAMETOOLONG;
}

int series_name(const struct series *s, unsigned int number, char *name, size_t size)
{
	struct series_parts p;
	char stamp[32];
	time_t now = time(NULL);
	struct tm tm;
	int n = parts(s, &p);

	if (n)
		return n;
	strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", localtime_r(&now, &tm));
	n = snprintf(name, size, "%s_%05u_%s%s", p.front, number, stamp, p.end);
	return n < (int)size ? 0 : -ENAMETOOLONG;
}

/* Returns the number in a name of this series; 0 for other names. */
static unsigned int number_of(const struct series_parts *p, const char *name)
{
	size_t front = strlen(p->front + p->folder), digits;
	unsigned long number;
	char *end;

	if (strncmp(name, p->front + p->folder, front) || name[front] != '_' ||
	    !isdigit((unsigned char)name[front + 1]))
		return 0;
	number = strtoul(name + front + 1, &end, 10);
	digits = *end == '_' ? strspn(end + 1, "0123456789") : 0;
	if (digits != SERIES_STAMP || strcmp(end + 1 + digits, p->end) || number >= UINT_MAX)
		return 0;
	return number;
}

static int compare(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
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

int series_list(const struct series *s, char ***list, unsigned int *next)
{
	struct series_parts p;
	struct dirent *e;
	char folder[PATH_MAX];
	int err = parts(s, &p), count = 0;
	DIR *d;

	*list = NULL;
	*next = 1;
	if (err)
		return err;
	snprintf(folder, sizeof(folder), "%.*s", (int)p.folder, p.front);
	d = opendir(p.folder ? folder : ".");
	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		unsigned int number = number_of(&p, e->d_name);

		if (!number)
			continue;
		err = list_add(list, count, &p, e->d_name);
		count += !err;
		if (number >= *next)
			*next = number + 1;
	}
	closedir(d);
	if (count)
		qsort(*list, count, sizeof(**list), compare);
	return err ? err : count;
}
