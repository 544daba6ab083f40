// SPDX-License-Identifier: GPL-2.0
/* Output file: see output_file.h. */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

#define STANDARD_OUTPUT "/proc/self/fd/1" /* a link; that of a pipe leads nowhere */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Links are followed. A file that is not there yet will be in the folder of its name. */
static bool is_in(int folder, const char *write)
{
	char real[PATH_MAX], path[PATH_MAX];
	struct stat searched, its;

	if (strlen(write) >= sizeof(path))
		return false;
	strcpy(path, write);
	if (realpath(write, real))
		strcpy(path, real);
	else if (!strcmp(write, STANDARD_OUTPUT))
		return false;
	return !fstat(folder, &searched) && !stat(dirname(path), &its) && is_same(&searched, &its);
}

static bool is_file(const char *one, const char *other)
{
	struct stat a, b;

	return !stat(one, &a) && !stat(other, &b) && is_same(&a, &b);
}

static int open_file(const char *write)
{
	int fd = open(write, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
	struct stat st;
	int err;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return fd;
	err = flock(fd, LOCK_EX | LOCK_NB) || ftruncate(fd, 0) ? -errno : 0;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int output_file_open(const char *write, int folder, const char *key)
{
	bool is_standard = !strcmp(write, "-");
	const char *path = is_standard ? STANDARD_OUTPUT : write;
	int fd;

	if (is_in(folder, path)) {
		log_line("-w %s: is in the folder that is searched; write to another one", write);
		return -EPERM;
	}
	if (key && is_file(path, key)) {
		log_line("-w %s: is the file of --pseudonyms", write);
		return -EPERM;
	}
	fd = is_standard ? dup(STDOUT_FILENO) : open_file(write);
	if (fd < 0 && is_standard)
		fd = -errno;
	if (fd < 0)
		log_line("-w %s: %s", write,
			 fd == -EWOULDBLOCK ? "another program writes to it" : strerror(-fd));
	return fd;
}
