// SPDX-License-Identifier: GPL-2.0
/* Lock: see lock.h. */
#include "lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/index_read.h"
#include "archive/series_name.h"
#include "common/directory.h"
#include "common/log.h"

#define CAPTURES_LOCK ".saluki-keep"
#define COLUMNS_LOCK ".saluki-columns" /* its text: number and path of the captures */

static int take(int folder, const char *lock, const char *name)
{
	const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	struct stat before;
	bool known = !fstat(folder, &before);
	int fd = openat(folder, lock, flags | O_EXCL, 0600);

	/* As if a program had worked here when a file was made last (service/age.h). */
	if (fd >= 0 && known)
		futimens(fd, (struct timespec[]){ before.st_mtim, before.st_mtim });
	else if (fd < 0 && errno == EEXIST)
		fd = openat(folder, lock, flags, 0600);
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

/* Returns whether the lock's text could be read; its path is "" if it has none. */
static bool read_owner(int fd, uint64_t *number, char path[PATH_MAX])
{
	char text[PATH_MAX + 32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	int begin = 0;

	if (n < 0)
		return false;
	text[n] = 0;
	path[0] = 0;
	if (sscanf(text, "%" SCNx64 " %n", number, &begin) == 1 && *number && begin)
		snprintf(path, PATH_MAX, "%s", text + begin);
	return true;
}

static uint64_t make_number(void)
{
	uint64_t number = 0;

	getrandom(&number, sizeof(number), 0);
	return number | 1;
}

/* If the disk is full, which this program may mend, the next start makes another number. */
static void write_owner(int fd, uint64_t number, const char *path, const char *name)
{
	char text[PATH_MAX + 32];
	int len = snprintf(text, sizeof(text), "%016" PRIx64 " %s", number, path);

	if (ftruncate(fd, 0) || (pwrite(fd, text, len, 0) < len && ftruncate(fd, 0)) || fsync(fd))
		log_line("%s/" COLUMNS_LOCK ": %s", name, strerror(errno));
}

/* Whether an index in the folder has the number of these tables. */
static bool has_number(const char *captures, uint64_t number)
{
	DIR *d = opendir(captures);
	struct index_head head;
	struct dirent *e;
	bool found = false;

	if (!d)
		return false;
	while (!found && (e = readdir(d))) {
		int fd;

		if (!directory_ending(e->d_name, ARCHIVE_INDEX))
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0)
			continue;
		found = !index_read_head(&head, fd) && head.tables == number;
		close(fd);
	}
	closedir(d);
	return found;
}

int lock_columns(int folder, const char *name, const char *captures, uint64_t *number)
{
	char ours[PATH_MAX], theirs[PATH_MAX];
	int fd = take(folder, COLUMNS_LOCK, name);

	if (fd < 0)
		return fd;
	*ours = 0;
	if ((captures && !realpath(captures, ours)) || !read_owner(fd, number, theirs)) {
		log_line("%s: %s", name, strerror(errno));
		return -errno;
	}
	if (*theirs && strcmp(ours, theirs) != 0) {
		if (!captures || !access(theirs, F_OK) || !has_number(captures, *number)) {
			log_line("%s: has the tables of %s; use another folder", name, theirs);
			return -EBUSY;
		}
		log_info("%s: the captures were moved from %s", name, theirs);
		write_owner(fd, *number, ours, name);
	} else if (!*theirs && captures) {
		*number = make_number();
		write_owner(fd, *number, ours, name);
	}
	return fd;
}
