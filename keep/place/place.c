// SPDX-License-Identifier: GPL-2.0
/* Place: see place.h. */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MODE_BITS 0777

int place_open(struct place *p, int folder, const char *name)
{
	*p = (struct place){ .folder = folder, .fd = -1 };
	if (strlen(name) >= sizeof(p->name))
		return -ENAMETOOLONG;
	strcpy(p->name, name);
	snprintf(p->new_name, sizeof(p->new_name), PLACE_NEW("%s"), strrchr(name, '.') ?: "");
	if (unlinkat(folder, p->new_name, 0) && errno != ENOENT)
		return -errno;
	p->fd = openat(folder, p->new_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		       0600);
	return p->fd < 0 ? -errno : 0;
}

int place_write(const struct place *p, const uint8_t *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(p->fd, bytes, len);

		if (n <= 0)
			return n ? -errno : -ENOSPC;
		bytes += n;
		len -= n;
	}
	return 0;
}

int place_sync(const struct place *p, const struct stat *like)
{
	const struct timespec times[] = { like->st_atim, like->st_mtim };

	/* The group may read, if the file's owner may give it to the group. */
	if (fchown(p->fd, -1, like->st_gid) && errno != EPERM)
		return -errno;
	if (fchmod(p->fd, like->st_mode & MODE_BITS) || futimens(p->fd, times) || fsync(p->fd))
		return -errno;
	return 0;
}

int place_put(struct place *p)
{
	if (renameat(p->folder, p->new_name, p->folder, p->name))
		return -errno;
	close(p->fd);
	p->fd = -1;
	return 0;
}

void place_drop(struct place *p)
{
	if (p->fd < 0)
		return;
	close(p->fd);
	p->fd = -1;
	unlinkat(p->folder, p->new_name, 0);
}
