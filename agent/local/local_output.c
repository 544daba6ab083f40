// SPDX-License-Identifier: GPL-2.0
/* Local output: see local_output.h. */
#include "local_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

/* "saluki capture -w /etc/passwd" is a mistake: tcpdump's users lose such a file. */
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

static int empty(int fd, const char *path)
{
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		log_line("-w %s: another saluki-collector writes to it", path);
		return -EWOULDBLOCK;
	}
	if (!is_capture(fd)) {
		log_line("-w %s: is no capture file; remove it first", path);
		return -EEXIST;
	}
	if (ftruncate(fd, 0) == 0)
		return 0;
	log_line("-w %s: %s", path, strerror(errno));
	return -errno;
}

int local_output_empty(const char *path)
{
	struct stat st;
	int fd, err;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		log_line("-w %s: %s", path, strerror(errno));
		return -errno;
	}
	err = empty(fd, path);
	close(fd);
	return err;
}
