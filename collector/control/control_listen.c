// SPDX-License-Identifier: GPL-2.0
/* Control, the socket: see control.h. Only the collector's owner may connect. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/unix_address.h"
#include "control.h"

/* Checks whether a process listens there. The socket of a killed collector may be removed. */
static bool is_heard(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;

	if (fd < 0)
		return true;
	if (connect(fd, (const struct sockaddr *)a, sizeof(*a)))
		err = errno;
	close(fd);
	return !err || err == EAGAIN;
}

static int bind_there(int fd, const struct sockaddr_un *a)
{
	mode_t mask = umask(0177);
	int err = bind(fd, (const struct sockaddr *)a, sizeof(*a)) ? -errno : 0;

	umask(mask);
	return err;
}

static int listen_there(int fd, const struct sockaddr_un *a)
{
	struct stat st;
	int err = bind_there(fd, a);

	/* Files of other kinds are never removed. */
	if (err == -EADDRINUSE && lstat(a->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    !is_heard(a) && unlink(a->sun_path) == 0)
		err = bind_there(fd, a);
	if (!err && listen(fd, CONTROL_CLIENTS))
		err = -errno;
	return err;
}

static const char *control_why(int err, const struct sockaddr_un *a)
{
	struct stat st;

	if (err != -EADDRINUSE)
		return strerror(-err);
	return lstat(a->sun_path, &st) == 0 && !S_ISSOCK(st.st_mode)
		       ? "there is a file that is no socket"
		       : "another collector listens there";
}

int control_listen(const char *path)
{
	struct sockaddr_un a;
	int fd, err = unix_address(&a, path);

	if (!strcmp(path, CONTROL_PATH)) {
		char dir[] = CONTROL_PATH;

		*strrchr(dir, '/') = 0;
		mkdir(dir, 0755); /* on failure, making the socket fails too */
	}
	fd = err ? err : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 && !err)
		err = -errno;
	err = err ?: listen_there(fd, &a);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	log_line("--control %s: %s", path, control_why(err, &a));
	return err;
}
