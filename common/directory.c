// SPDX-License-Identifier: GPL-2.0
/* Directory: see directory.h. */
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Another descriptor of the folder would share its place in the list. */
DIR *directory_list(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (fd < 0 || d)
		return d;
	err = errno;
	close(fd);
	errno = err;
	return NULL;
}

bool directory_ending(const char *name, const char *ending)
{
	size_t len = strlen(name), end = strlen(ending);

	return len > end && !strcmp(name + len - end, ending);
}
