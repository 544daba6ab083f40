// SPDX-License-Identifier: GPL-2.0
/* Output file: see output_file.h. */
#include "output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/series_name.h"
#include "common/directory.h"
#include "common/log.h"
#include "keep/place/table_name.h"
#include "keep/process/lock.h"

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

/* Also a file that has a further name elsewhere. */
static bool has(int folder, const struct stat *file)
{
	DIR *d = directory_list(folder);
	struct stat searched;
	struct dirent *e;
	bool found = false;

	if (!d)
		return false;
	if (!fstat(folder, &searched) && searched.st_dev == file->st_dev)
		while (!found && (e = readdir(d)))
			found = e->d_ino == file->st_ino;
	closedir(d);
	return found;
}

static bool leads_nowhere(const char *write)
{
	struct stat st;

	return !lstat(write, &st) && S_ISLNK(st.st_mode) && stat(write, &st) && errno == ENOENT;
}

static int open_standard(void)
{
	int fd = dup(STDOUT_FILENO);

	return fd < 0 ? -errno : fd;
}

/* Returns -EXDEV for a file of the folder. */
static int open_file(const char *write, bool read, int folder)
{
	int fd = open(write, (read ? O_RDWR : O_WRONLY) | O_CREAT | O_CLOEXEC, 0640);
	bool is_regular;
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	is_regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
	if (is_regular && has(folder, &st))
		err = -EXDEV;
	else if (is_regular && (flock(fd, LOCK_EX | LOCK_NB) || ftruncate(fd, 0)))
		err = -errno;
	else if (!is_regular && read)
		err = -EINVAL;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int output_file_open(const char *write, bool read, int folder, const char *key)
{
	bool is_standard = !strcmp(write, "-");
	const char *path = is_standard ? STANDARD_OUTPUT : write;
	int fd;

	if (!is_standard && leads_nowhere(write)) {
		log_line("-w %s: is a link to a file that is not there", write);
		return -EPERM;
	}
	if (key && is_file(path, key)) {
		log_line("-w %s: is the file of --pseudonyms", write);
		return -EPERM;
	}
	if (is_in(folder, path))
		fd = -EXDEV;
	else
		fd = is_standard ? open_standard() : open_file(write, read, folder);
	if (fd < 0)
		log_line("-w %s: %s", write,
			 fd == -EXDEV ? "is in the folder that is searched; write to another one"
			 : fd == -EWOULDBLOCK	 ? "another program writes to it"
			 : fd == -EINVAL && read ? "is not a regular file, which --columns needs"
						 : strerror(-fd));
	return fd == -EXDEV ? -EPERM : fd;
}

int output_tables_open(struct output_tables *t, const char *columns, const char *write)
{
	const char *base = strrchr(write, '/') ? strrchr(write, '/') + 1 : write, *wrong;
	uint64_t number;
	int lock;

	snprintf(t->stem, sizeof(t->stem), "%.*s", (int)(strlen(base) - strlen(ARCHIVE_CAPTURE)),
		 base);
	wrong = table_wrong_stem(t->stem);
	if (wrong) {
		log_line("-w %s: tables cannot have this name: %s", write, wrong);
		return -EPERM;
	}
	t->folder = open(columns, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->folder < 0) {
		log_line("--columns %s: %s", columns, strerror(errno));
		return -errno;
	}
	lock = lock_columns(t->folder, columns, NULL, &number);
	return lock < 0 ? lock : 0;
}
