// SPDX-License-Identifier: GPL-2.0
/* Free space: see free_space.h. */
#include "free_space.h"

#include <sys/vfs.h>

#define SLACK 8 /* free_space_fits() adds 1/SLACK of --keep-free */

bool free_space_ask(struct free_space *d, int fd, const struct space *k)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) || !fs.f_blocks)
		return false;
	d->size = (uint64_t)fs.f_blocks * fs.f_bsize;
	d->free = (uint64_t)fs.f_bavail * fs.f_bsize;
	d->keep = space_of(k, d->size);
	return true;
}

bool free_space_fits(const struct free_space *d, uint64_t len, bool waits)
{
	return d->free >= len + d->keep + (waits ? d->keep / SLACK : 0);
}
