// SPDX-License-Identifier: GPL-2.0
/* Days: see days.h. */
#include "days.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/directory.h"
#include "keep/place/day_name.h"

#define FOLDER (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

static int visit_table(int table, const char *table_name, const char *before, days_visit *visit,
		       void *context)
{
	DIR *listing = directory_list(table);
	struct dirent *e;
	int result = 0;

	if (!listing)
		return -errno;
	while (!result && (e = readdir(listing))) {
		int day;

		if (!day_is_valid(e->d_name) || strcmp(e->d_name, before) >= 0)
			continue;
		day = openat(table, e->d_name, FOLDER);
		if (day < 0)
			continue;
		result = visit(context, table, day, table_name, e->d_name);
		close(day);
	}
	closedir(listing);
	return result;
}

int days_visit_all(int folder, const char *const *tables, const char *before, days_visit *visit,
		   void *context)
{
	int result = 0;

	for (; !result && *tables; tables++) {
		int table = openat(folder, *tables, FOLDER);

		if (table < 0)
			continue;
		result = visit_table(table, *tables, before, visit, context);
		close(table);
	}
	return result;
}
