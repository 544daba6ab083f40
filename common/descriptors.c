// SPDX-License-Identifier: GPL-2.0
/* Descriptors: see descriptors.h. */
#include "descriptors.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void descriptors_open_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0) /* the lowest free number, so it becomes `fd` */
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void descriptors_close_path(const char *path)
{
	int fd;

	if (sscanf(path, "/dev/fd/%d", &fd) == 1 && fd > STDERR_FILENO)
		close(fd);
}
