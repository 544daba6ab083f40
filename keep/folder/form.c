// SPDX-License-Identifier: GPL-2.0
/* Form: see form.h. */
#include "form.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "archive/series_name.h"

static const char *const endings[FORMS] = {
	[FORM_PCAPNG] = ARCHIVE_CAPTURE,
	[FORM_ZST] = ARCHIVE_CAPTURE ARCHIVE_COMPRESSED,
	[FORM_INDEX] = ARCHIVE_INDEX,
};

static bool ends_with(const char *name, size_t *len, const char *ending)
{
	size_t end = strlen(ending);

	if (*len <= end || memcmp(name + *len - end, ending, end))
		return false;
	*len -= end;
	return true;
}

enum form form_of(const char *name, size_t *len)
{
	*len = strlen(name);
	for (int form = 0; form < FORMS; form++)
		if (ends_with(name, len, endings[form]))
			return form;
	return FORM_NONE;
}

int form_name(const char *stem, enum form form, const char *ending, char *name, size_t size)
{
	int n = snprintf(name, size, "%s%s%s", stem, endings[form], ending);

	return n < (int)size ? 0 : -ENAMETOOLONG;
}

int form_open(int folder, const char *stem, enum form form, char name[NAME_MAX + 1])
{
	int fd;

	if (form_name(stem, form, "", name, NAME_MAX + 1))
		return -ENAMETOOLONG;
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
