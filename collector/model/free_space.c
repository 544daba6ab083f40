// SPDX-License-Identifier: GPL-2.0
/* Free space: see free_space.h. */
#include "free_space.h"

#include <sys/vfs.h>

#define SLACK 8 /* free_space_fits() adds 1/SLACK of --keep-free */

uint64_t keep_free_bytes(const struct keep_free *k, uint64_t size)
{
	uint64_t part = size / 100 * k->percent;

	return k->percent && part < k->bytes ? part : k->bytes;
}

bool free_space_ask(struct free_space *d, int fd, const struct keep_free *k)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) || !fs.f_blocks)
		return false;
	d->size = (uint64_t)fs.f_blocks * fs.f_bsize;
	d->free = (uint64_t)fs.f_bavail * fs.f_bsize;
	d->keep = keep_free_bytes(k, d->size);
	return true;
}

bool free_space_fits(const struct free_space *d, uint64_t len, bool waits)
{
	return d->free >= len + d->keep + (waits ? d->keep / SLACK : 0);
}
