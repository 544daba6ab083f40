// SPDX-License-Identifier: GPL-2.0
/* Lock: see lock.h. */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/log.h"

#define CAPTURES_LOCK ".saluki-keep"
#define COLUMNS_LOCK ".saluki-columns" /* its text is the path of the captures */

static int take(int folder, const char *lock, const char *name)
{
	int fd = openat(folder, lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	log_line("%s: %s", name,
		 errno == EWOULDBLOCK ? "another saluki-keep works here" : strerror(errno));
	return -EBUSY;
}

int lock_captures(int folder, const char *name)
{
	return take(folder, CAPTURES_LOCK, name);
}

int lock_columns(int folder, const char *name, const char *captures)
{
	char ours[PATH_MAX], theirs[PATH_MAX];
	int fd = take(folder, COLUMNS_LOCK, name);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = pread(fd, theirs, sizeof(theirs) - 1, 0);
	if (n < 0 || !realpath(captures, ours)) {
		log_line("%s: %s", n < 0 ? name : captures, strerror(errno));
		return -errno;
	}
	theirs[n] = 0;
	if (n && strcmp(ours, theirs) != 0) {
		log_line("%s: has the tables of %s; use another folder, or, if that one was "
			 "renamed, remove %s/" COLUMNS_LOCK,
			 name, theirs, name);
		return -EBUSY;
	}
	/* If the disk is full, which this program may mend, the next start writes it. */
	if (!n && pwrite(fd, ours, strlen(ours), 0) < (ssize_t)strlen(ours) && ftruncate(fd, 0))
		log_line("%s/" COLUMNS_LOCK ": %s", name, strerror(errno));
	return fd;
}
