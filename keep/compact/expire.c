// SPDX-License-Identifier: GPL-2.0
/* Deletes old days. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/directory.h"
#include "common/log.h"
#include "compact.h"
#include "concat.h"
#include "day.h"
#include "days.h"
#include "keep/place/table_name.h"

static bool is_ours(int day, const char *name)
{
	int fd = openat(day, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct parquet_facts facts = { .rows = 0 };
	bool ours = fd >= 0 && !parquet_facts(fd, DAY_SOURCES, DAY_PROGRAM, &facts) &&
		    facts.is_ours;

	if (fd >= 0)
		close(fd);
	free(facts.value);
	return ours;
}

/* The folder goes if nothing else is in it. */
static int expire_day(void *context, int table, int day, const char *table_name, const char *name)
{
	DIR *listing = directory_list(day);
	int *files = context, err = 0;
	struct dirent *e;
	struct stat st;

	if (!listing)
		return -errno;
	while (!err && (e = readdir(listing))) {
		bool whole = directory_ending(e->d_name, ".parquet");

		if ((!whole && !directory_ending(e->d_name, ".parquet.new")) ||
		    fstatat(day, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (whole && !is_ours(day, e->d_name))
			continue;
		if (!unlinkat(day, e->d_name, 0))
			*files += whole;
		else if (errno != ENOENT)
			err = -errno;
	}
	closedir(listing);
	if (err)
		log_line("%s/%s: cannot be deleted: %s", table_name, name, strerror(-err));
	else
		unlinkat(table, name, AT_REMOVEDIR);
	return err;
}

int compact_expire(const struct compact *c, const char *before)
{
	int files = 0;
	int err = days_visit_all(c->folder, c->tables, before, expire_day, &files);

	return err < 0 ? err : files;
}

/* ---- one file's ------------------------------------------------------------------------------ */

static int forget(void *name, int table, int day, const char *table_name, const char *day_name)
{
	(void)table;
	(void)table_name;
	(void)day_name;
	return unlinkat(day, name, 0) && errno != ENOENT ? -errno : 0;
}

int compact_forget(int folder, const char *const *tables, const char *stem)
{
	char name[NAME_MAX + 1];

	if (snprintf(name, sizeof(name), "%s" TABLE_ENDING, stem) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	return days_visit_all(folder, tables, "day=:", forget, name); /* behind all days */
}
