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

static const char in_folder[] = "is in the folder that is searched; write to another one";

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether a file that is not there yet would be made in the folder, or behind a link. */
static const char *wrong_with_new(const char *write, int folder)
{
	struct stat searched, its;
	char path[PATH_MAX];

	if (!stat(write, &its) || strlen(write) >= sizeof(path))
		return NULL;
	if (!lstat(write, &its))
		return "is a link to a file that is not there";
	strcpy(path, write);
	if (fstat(folder, &searched) || stat(dirname(path), &its) || !is_same(&searched, &its))
		return NULL;
	return in_folder;
}

/* Also by a further name that the file has elsewhere. */
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

static const char *wrong_with(const struct stat *file, int folder, const char *key)
{
	struct stat its;

	if (has(folder, file))
		return in_folder;
	return key && !stat(key, &its) && is_same(file, &its) ? "is the file of --pseudonyms"
							      : NULL;
}

static int open_it(const char *write, bool read)
{
	int fd = !strcmp(write, "-")
			 ? dup(STDOUT_FILENO)
			 : open(write, (read ? O_RDWR : O_WRONLY) | O_CREAT | O_CLOEXEC, 0640);

	return fd < 0 ? -errno : fd;
}

/* Nothing is changed before all is checked. Standard output may have an earlier program's bytes. */
static int prepare(int fd, bool is_standard, bool read)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return read ? -EINVAL : 0;
	if (is_standard)
		return 0;
	return flock(fd, LOCK_EX | LOCK_NB) || ftruncate(fd, 0) ? -errno : 0;
}

int output_file_open(const char *write, bool read, int folder, const char *key)
{
	bool is_standard = !strcmp(write, "-");
	const char *wrong = is_standard ? NULL : wrong_with_new(write, folder);
	struct stat st;
	int fd = -1, err = 0;

	if (!wrong)
		fd = err = open_it(write, read);
	if (fd >= 0 && !fstat(fd, &st))
		wrong = wrong_with(&st, folder, key);
	if (wrong)
		err = -EPERM;
	else if (fd >= 0)
		err = prepare(fd, is_standard, read);
	if (err >= 0)
		return fd;
	log_line("-w %s: %s", write,
		 wrong			  ? wrong
		 : err == -EWOULDBLOCK	  ? "another program writes to it"
		 : err == -EINVAL && read ? "is not a regular file, which --columns needs"
					  : strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
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
