// SPDX-License-Identifier: GPL-2.0
/* Permitted: see permitted.h. */
#include "permitted.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/statvfs.h>

#include "common/log.h"
#include "origin.h"

static bool is_newest(const struct listing *l, unsigned int i)
{
	return i + 1 == l->count || !l->list[i].series || !l->list[i + 1].series ||
	       strcmp(l->list[i].series, l->list[i + 1].series) != 0;
}

static uint64_t size_of(int folder)
{
	struct statvfs fs;

	return fstatvfs(folder, &fs) ? 0 : (uint64_t)fs.f_blocks * fs.f_frsize;
}

static int check(int folder, const char *name, const struct origin *o, const struct space *min_free)
{
	uint64_t size = size_of(folder);

	if (o->is_ring) {
		log_line("%s: its collector deletes files itself (-W); start the collector without "
			 "-W, and give saluki-keep --max-bytes or --max-age",
			 name);
		return -EPERM;
	}
	if (!min_free || !o->tells_keep_free ||
	    space_of(min_free, size) > space_of(&o->keep_free, size))
		return 0;
	log_line("--min-free is %llu MiB here, and must be more than the collector's --keep-free "
		 "(%llu MiB in %s): the collector stops writing before a file is deleted",
		 (unsigned long long)space_of(min_free, size) >> 20,
		 (unsigned long long)space_of(&o->keep_free, size) >> 20, name);
	return -EPERM;
}

int permitted(int folder, const struct listing *l, const struct space *min_free)
{
	char name[NAME_MAX + 1];
	struct origin o;
	int err = 0;

	for (unsigned int i = 0; !err && i < l->count; i++) {
		if (l->list[i].has[FORM_PCAPNG] && is_newest(l, i) &&
		    !origin_of(&o, folder, l->list[i].name, name))
			err = check(folder, name, &o, min_free);
	}
	return err;
}
