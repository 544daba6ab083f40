// SPDX-License-Identifier: GPL-2.0
/* Lock sweep: see lock_sweep.h. In: the folder of locks. Always holds: a file is removed only while
 * it is locked here, and no other process takes a lock meanwhile. */
#include "lock_sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lock.h"

static bool ends_with(const char *name, const char *suffix)
{
	size_t len = strlen(name), tail = strlen(suffix);

	return len >= tail && !strcmp(name + len - tail, suffix);
}

/* Records (agent/radio/record.h) are kept: the next `saluki run` undoes what they list. */
static bool is_lock(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits && name[digits] == '.' && !ends_with(name, ".monitor") &&
	       !ends_with(name, ".sock");
}

static void sweep(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char sock[LOCK_PATH_MAX];
	struct stat st;

	if (fd < 0)
		return;
	snprintf(sock, sizeof(sock), "%.80s.sock", name);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		if (fstatat(folder, sock, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode))
			unlinkat(folder, sock, 0);
		unlinkat(folder, name, 0);
	}
	close(fd);
}

void lock_sweep(void)
{
	int folder = open(LOCK_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = folder < 0 ? NULL : fdopendir(folder);
	struct dirent *e;

	if (!dir) {
		if (folder >= 0)
			close(folder);
		return;
	}
	if (flock(folder, LOCK_EX | LOCK_NB) == 0)
		while ((e = readdir(dir)))
			if (is_lock(e->d_name))
				sweep(folder, e->d_name);
	closedir(dir);
}
