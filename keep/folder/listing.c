// SPDX-License-Identifier: GPL-2.0
/* Listing: see listing.h. */
#include "listing.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/series_name.h"
#include "common/directory.h"
#include "common/file_time.h"
#include "origin.h"

#define NUMBER_DIGITS 5 /* at least, of a file's number */

/* ---- series ---------------------------------------------------------------------------------- */

/* The stem before its number, which has five digits or more. Without a time behind the number, the
 * prefix can have one, which differs from file to file: two digits or more are a '#'. */
static char *series_of(const char *stem, unsigned int number)
{
	const char *end = stem + strlen(stem), *digits = end;
	bool has_time = true;
	char *series, *to;

	for (int i = 0; i < 2; i++, has_time = false) {
		end = digits = i ? digits - 1 : end; /* behind the '_' */
		while (digits > stem && isdigit((unsigned char)digits[-1]))
			digits--;
		if (digits == stem || digits == end || digits[-1] != '_')
			return NULL;
		if (strtoul(digits, NULL, 10) == number)
			break;
	}
	if (!number || end - digits < NUMBER_DIGITS || strtoul(digits, NULL, 10) != number)
		return NULL;
	end = digits - 1;
	series = to = malloc(end - stem + 1);
	for (const char *p = stem; series && p < end;) {
		size_t row = strspn(p, "0123456789");

		if (row > (size_t)(end - p))
			row = end - p;
		if (has_time && row > 1)
			*to++ = '#';
		else
			to = (char *)memcpy(to, p, row ? row : 1) + (row ? row : 1);
		p += row ? row : 1;
	}
	if (series)
		*to = 0;
	return series;
}

static int compare(const void *a, const void *b)
{
	const struct stem *one = a, *other = b;
	int order = strcmp(one->series ?: "", other->series ?: "");

	if (!order && one->number != other->number)
		order = one->number < other->number ? -1 : 1;
	return order ?: strcmp(one->name, other->name);
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct stem *add(struct listing *l, const char *file, size_t len)
{
	struct stem *s;

	if (l->count == l->room) {
		unsigned int room = 2 * l->room + 64;
		struct stem *longer = realloc(l->list, room * sizeof(*longer));

		if (!longer)
			return NULL;
		l->list = longer;
		l->room = room;
	}
	s = &l->list[l->count];
	*s = (struct stem){ .name = strndup(file, len), .number = series_number(file) };
	if (!s->name)
		return NULL;
	s->series = series_of(s->name, s->number);
	l->count++;
	return s;
}

/* Each file has a stem of its own until join(). */
static int entry(struct listing *l, int folder, const char *name)
{
	size_t len;
	enum form form = form_of(name, &len);
	char file[NAME_MAX + 1];
	struct stat st;
	struct stem *s;

	if (form >= FORMS || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode))
		return 0; /* also one that was removed meanwhile */
	snprintf(file, sizeof(file), "%.*s" ARCHIVE_INDEX, (int)len, name);
	s = add(l, file, len);
	if (!s)
		return -ENOMEM;
	s->has[form] = true;
	s->bytes[form] = st.st_size;
	s->time_ns = file_time_ns(&st);
	return 0;
}

static void stem_free(struct stem *s)
{
	free(s->name);
	free(s->series);
}

/* The compressed form has the time of the file that it was made of. */
static void merge(struct stem *s, const struct stem *same)
{
	for (int form = 0; form < FORMS; form++) {
		if (!same->has[form])
			continue;
		if (form == FORM_PCAPNG || (form == FORM_ZST && !s->has[FORM_PCAPNG]))
			s->time_ns = same->time_ns;
		s->has[form] = true;
		s->bytes[form] = same->bytes[form];
	}
}

/* Equal names stand beside one another. */
static void join(struct listing *l)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < l->count; i++) {
		if (count && !strcmp(l->list[count - 1].name, l->list[i].name)) {
			merge(&l->list[count - 1], &l->list[i]);
			stem_free(&l->list[i]);
		} else {
			l->list[count++] = l->list[i];
		}
	}
	l->count = count;
}

/* A collector that begins a file has written all of the one before, and noted that (the state file
 * of saluki-files(5)), before it writes more than the section header. */
static void note_followed(struct listing *l, int folder)
{
	bool begun = false;

	for (unsigned int i = l->count; i-- > 0;) {
		struct stem *s = &l->list[i];
		bool same = i + 1 < l->count && s->series && l->list[i + 1].series &&
			    !strcmp(s->series, l->list[i + 1].series);

		s->is_followed = same && begun;
		begun = (same && begun) || s->has[FORM_ZST] || s->has[FORM_INDEX] ||
			(s->series && origin_has_begun(folder, s->name, s->bytes[FORM_PCAPNG]));
	}
}

static int walk(struct listing *l, int folder)
{
	DIR *d = directory_list(folder);
	struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (errno = 0, e = readdir(d)))
		err = entry(l, folder, e->d_name);
	if (!err && errno)
		err = -errno;
	closedir(d);
	return err;
}

/* readdir(3) can have passed the place of the compressed file, and then find the capture file gone.
 * The other walk finds such a file, in the form that the file had then. */
int listing_read(struct listing *l, int folder, bool is_ours)
{
	int err;

	*l = (struct listing){ .list = NULL };
	err = walk(l, folder);
	if (!err && !is_ours)
		err = walk(l, folder);
	if (err) {
		listing_free(l);
		return err;
	}
	if (l->count)
		qsort(l->list, l->count, sizeof(*l->list), compare);
	join(l);
	note_followed(l, folder);
	return 0;
}

void listing_free(struct listing *l)
{
	for (unsigned int i = 0; i < l->count; i++)
		stem_free(&l->list[i]);
	free(l->list);
	*l = (struct listing){ .list = NULL };
}
