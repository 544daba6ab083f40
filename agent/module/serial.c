// SPDX-License-Identifier: GPL-2.0
/* Serial: see serial.h. In and out: SERIAL_FOLDER/NAME.serial, a number and a newline. */
#include "serial.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "trusted.h"

static void serial_path(char *path, size_t len, const char *name, const char *suffix)
{
	snprintf(path, len, SERIAL_FOLDER "/%s.serial%s", name, suffix);
}

int serial_read(const char *name, uint64_t *serial)
{
	char path[128], text[32] = "", again[32];
	ssize_t n;
	int fd;

	*serial = 0;
	serial_path(path, sizeof(path), name, "");
	if (access(path, F_OK) && errno == ENOENT)
		return 0;
	fd = trusted_open(path, false);
	if (fd < 0)
		return fd;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n > 0 && sscanf(text, "%" SCNu64, serial) == 1) {
		snprintf(again, sizeof(again), "%" PRIu64 "\n", *serial);
		if (!strcmp(text, again))
			return 0;
	}
	log_line("%s: has no serial; write the highest that was loaded into it", path);
	return -EBADMSG;
}

static int write_and_sync(const char *path, uint64_t serial)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	int err = fd < 0 ? -errno : 0;

	if (!err && (dprintf(fd, "%" PRIu64 "\n", serial) < 0 || fsync(fd)))
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Another process may have stored a higher one since the check. */
static int write_higher(const char *name, uint64_t serial)
{
	char path[128], new[128];
	uint64_t highest;
	int err = serial_read(name, &highest);

	if (!err && serial < highest) {
		log_line("%s: serial %" PRIu64 " was loaded meanwhile, and %" PRIu64 " is older",
			 name, highest, serial);
		return -EPERM;
	}
	if (err || serial == highest)
		return err;
	serial_path(path, sizeof(path), name, "");
	serial_path(new, sizeof(new), name, ".new");
	err = write_and_sync(new, serial);
	if (!err && rename(new, path))
		err = -errno;
	if (err)
		log_line("%s: %s", path, strerror(-err));
	return err;
}

int serial_keep(const char *name, uint64_t serial)
{
	int folder, err;

	mkdir("/var/lib/saluki", 0755);
	mkdir(SERIAL_FOLDER, 0755);
	folder = open(SERIAL_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || flock(folder, LOCK_EX)) { /* until it is closed */
		err = -errno;
		log_line(SERIAL_FOLDER ": %s", strerror(-err));
	} else {
		err = write_higher(name, serial);
		if (!err && fsync(folder))
			err = -errno;
	}
	if (folder >= 0)
		close(folder);
	return err;
}
