// SPDX-License-Identifier: GPL-2.0
/* Retire: see retire.h. */
#include "retire.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/log.h"
#include "origin.h"

#define RETIRE_SHARE 8 /* of the files: more are not deleted for what is wanted */

static uint64_t bytes_of(const struct stem *s)
{
	return s->bytes[FORM_PCAPNG] + s->bytes[FORM_ZST] + s->bytes[FORM_INDEX];
}

/* An uncompressed file can be packed if its series goes on. */
static bool may_be_packed(const struct stem *s, bool finished)
{
	return s->has[FORM_INDEX] && (s->has[FORM_ZST] || s->has[FORM_PCAPNG]) &&
	       (!s->has[FORM_PCAPNG] || s->is_followed || finished);
}

/* The capture first: if the index is left behind alone, the next look removes it. */
static int delete (int folder, struct stem *s, struct retired *r)
{
	static const enum form order[] = { FORM_PCAPNG, FORM_ZST, FORM_INDEX };
	char name[NAME_MAX + 1];

	for (int i = 0; i < FORMS; i++) {
		if (!s->has[order[i]])
			continue;
		if (form_name(s->name, order[i], "", name, sizeof(name)))
			return -ENAMETOOLONG;
		if (unlinkat(folder, name, 0) && errno != ENOENT) {
			int err = -errno;

			log_line("%s: cannot be deleted: %s", name, strerror(-err));
			return err;
		}
		s->has[order[i]] = false;
	}
	r->files++;
	r->bytes += bytes_of(s);
	memset(s->bytes, 0, sizeof(s->bytes));
	snprintf(r->last, sizeof(r->last), "%s", s->name);
	return 0;
}

static uint64_t free_bytes(int folder)
{
	struct statvfs fs;

	return fstatvfs(folder, &fs) ? UINT64_MAX : (uint64_t)fs.f_bavail * fs.f_frsize;
}

static int by_time(const void *a, const void *b)
{
	const struct stem *one = *(struct stem *const *)a, *other = *(struct stem *const *)b;

	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns ? -1 : 1;
	return strcmp(one->name, other->name);
}

/* A file system may free the space of deleted files later, or when their last reader ends. */
static bool is_too_full(int folder, uint64_t free_before, uint64_t min_free,
			const struct retired *r)
{
	uint64_t now = free_bytes(folder), then = free_before + r->bytes;

	return min_free && (now > then ? now : then) < min_free;
}

/* Oldest first, as long as a limit is passed. A file that cannot be deleted is named, and stays. */
static void retire_oldest(int folder, struct stem **oldest, unsigned int count, uint64_t total,
			  const struct retire_limits *limits, struct retired *r)
{
	uint64_t free_before = free_bytes(folder), min_free = limits->min_free;

	if (min_free && limits->wanted <= total / RETIRE_SHARE)
		min_free += limits->wanted;
	for (unsigned int i = 0; i < count; i++) {
		struct stem *s = oldest[i];
		uint64_t bytes = bytes_of(s);

		if (!(s->time_ns < limits->before_ns ||
		      (limits->max_bytes && total > limits->max_bytes) ||
		      is_too_full(folder, free_before, min_free, r)))
			break;
		if (limits->is_packed(folder, s) && !delete (folder, s, r))
			total -= bytes;
	}
	if (r->files)
		syncfs(folder);
}

/* Files of other programs are not deleted, so that they do not count: else ours all went for them.
 */
static bool counts(int folder, const struct stem *s)
{
	char name[NAME_MAX + 1];
	struct origin o;

	return s->has[FORM_INDEX] || (!origin_of(&o, folder, s->name, name) && origin_is_ours(&o));
}

int retire(int folder, struct listing *l, const struct retire_limits *limits, struct retired *r)
{
	struct stem **oldest = malloc((l->count + 1) * sizeof(struct stem *));
	unsigned int count = 0;
	uint64_t total = 0;

	*r = (struct retired){ .files = 0 };
	if (!oldest)
		return -ENOMEM;
	for (unsigned int i = 0; i < l->count; i++) {
		if (counts(folder, &l->list[i]))
			total += bytes_of(&l->list[i]);
		if (may_be_packed(&l->list[i], limits->finished))
			oldest[count++] = &l->list[i];
	}
	if (count)
		qsort(oldest, count, sizeof(*oldest), by_time);
	retire_oldest(folder, oldest, count, total, limits, r);
	free(oldest);
	return 0;
}
