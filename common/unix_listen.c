// SPDX-License-Identifier: GPL-2.0
/* Unix listen: see unix_listen.h. */
#include "unix_listen.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unix_address.h"

/* Checks whether a process listens there. The socket of a killed collector may be removed. */
static int is_heard(const struct sockaddr_un *a, int type)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;

	if (fd < 0)
		return 1;
	if (connect(fd, (const struct sockaddr *)a, sizeof(*a)))
		err = errno;
	close(fd);
	return !err || err == EAGAIN || err == EPROTOTYPE; /* the last one: of another type */
}

static int bind_there(int fd, const struct sockaddr_un *a)
{
	mode_t mask = umask(0177);
	int err = bind(fd, (const struct sockaddr *)a, sizeof(*a)) ? -errno : 0;

	umask(mask);
	return err;
}

static int listen_there(int fd, int type, const struct sockaddr_un *a, int backlog)
{
	struct stat st;
	int err = bind_there(fd, a);

	/* Files of other kinds are never removed. */
	if (err == -EADDRINUSE && lstat(a->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    !is_heard(a, type) && unlink(a->sun_path) == 0)
		err = bind_there(fd, a);
	if (!err && listen(fd, backlog))
		err = -errno;
	return err;
}

static const char *why_not(int err, const char *path)
{
	struct stat st;

	if (err != -EADDRINUSE)
		return strerror(-err);
	return lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode) ? "there is a file that is no socket"
							      : "another process listens there";
}

/* If it fails, making the socket fails too. */
static void make_folder(const char *path)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s", path);
	if (strrchr(dir, '/'))
		*strrchr(dir, '/') = 0;
	mkdir(dir, 0755);
}

int unix_listen(const char *path, int type, int folder, int backlog, const char **why)
{
	struct sockaddr_un a;
	int fd, err = unix_address(&a, path);

	if (folder)
		make_folder(path);
	fd = err ? err : socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 && !err)
		err = -errno;
	err = err ?: listen_there(fd, type, &a, backlog);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	*why = why_not(err, path);
	return err;
}
