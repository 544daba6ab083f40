// SPDX-License-Identifier: GPL-2.0
/* Local output: see local_output.h. */
#include "local_output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

/* tcpdump would overwrite any file, as in "saluki capture -w /etc/passwd". */
static bool is_capture(int fd)
{
	static const uint32_t magics[] = { 0x0a0d0d0a, 0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d,
					   0x4d3cb2a1 };
	uint32_t magic = 0;
	ssize_t n = read(fd, &magic, sizeof(magic));

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (n == sizeof(magic) && magic == magics[i])
			return true;
	return n == 0;
}

static bool is_same(int fd, const char *input)
{
	struct stat a, b;

	return input && stat(input, &a) == 0 && fstat(fd, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Returns NULL or an error text. */
static const char *wrong(int fd, const char *input)
{
	if (flock(fd, LOCK_EX | LOCK_NB))
		return "another saluki-collector writes to it";
	if (is_same(fd, input))
		return "is the file of -r; write to another one";
	return is_capture(fd) ? NULL : "is no capture file; remove it first";
}

/* A file that does not exist needs its folder. */
static int look_at_folder(const char *path)
{
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%s", path);
	if (stat(dirname(folder), &st) == 0)
		return 0;
	log_line("-w %s: %s", path, strerror(errno));
	return -EINVAL;
}

static int look(const char *path, const char *input, bool empties)
{
	struct stat st;
	const char *why;
	int fd;

	if (stat(path, &st))
		return look_at_folder(path);
	if (!S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	why = fd < 0 ? strerror(errno) : wrong(fd, input);
	if (!why && empties && ftruncate(fd, 0))
		why = strerror(errno);
	if (fd >= 0)
		close(fd);
	if (why)
		log_line("-w %s: %s", path, why);
	return why ? -EINVAL : 0;
}

int local_output_check(const char *path, const char *input)
{
	return look(path, input, false);
}

int local_output_empty(const char *path, const char *input)
{
	return look(path, input, true);
}
