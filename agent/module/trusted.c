// SPDX-License-Identifier: GPL-2.0
/* Trusted: see trusted.h. */
#include "trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

/* Returns why the file cannot be trusted; NULL: it can. */
static const char *distrusted(const struct stat *st, bool secret)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "is not owned by root: chown root";
	if (S_ISDIR(st->st_mode))
		return (st->st_mode & OTHERS_WRITE) && !(st->st_mode & S_ISVTX)
			       ? "is a folder that others can write to: chmod go-w"
			       : NULL;
	if (!S_ISREG(st->st_mode))
		return "is no regular file";
	if (st->st_mode & OTHERS_WRITE)
		return "can be written by others: chmod go-w";
	if (secret && (st->st_mode & (S_IRWXG | S_IRWXO)))
		return "is a secret that others can read: chmod 600";
	return NULL;
}

/* Opens and checks `name` in the folder `at`, and closes `at`. `path` up to here is for
 * messages. */
static int step(int at, const char *name, const char *path, bool last, bool secret)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (last ? O_NONBLOCK | O_NOCTTY : O_PATH);
	int fd = openat(at, name, flags), err = fd < 0 ? -errno : 0;
	const char *wrong = NULL;
	struct stat st;

	close(at);
	if (!err && fstat(fd, &st))
		err = -errno;
	else if (!err)
		wrong = distrusted(&st, secret);
	if (!err && !wrong)
		return fd;
	log_line("%s: %s", *path ? path : "/", wrong ?: strerror(-err));
	if (fd >= 0)
		close(fd);
	return err ?: -EPERM;
}

int trusted_open(const char *path, bool secret)
{
	char real[PATH_MAX], *part, *end;
	int fd;

	if (!realpath(path, real)) {
		fd = -errno;
		log_line("%s: %s", path, strerror(errno));
		return fd;
	}
	fd = step(open("/", O_PATH | O_CLOEXEC), ".", "", false, false);
	for (part = real + 1; fd >= 0 && part; part = end ? end + 1 : NULL) {
		end = strchr(part, '/');
		if (end)
			*end = 0;
		fd = step(fd, part, real, !end, secret);
		if (end)
			*end = '/';
	}
	return fd;
}
