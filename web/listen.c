// SPDX-License-Identifier: GPL-2.0
/* Listen: see listen.h. */
#include "listen.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/unix_listen.h"

#define BACKLOG 128

static int listen_address(const struct web_options *o)
{
	int fd = socket(o->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, &o->address.any, o->address_len) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	on = -errno;
	close(fd);
	return on;
}

int listen_open(const struct web_options *o)
{
	const char *why = NULL;
	int fd = o->path ? unix_listen(o->path, SOCK_STREAM, 0, BACKLOG, &why) : listen_address(o);

	if (fd >= 0 && o->path && chmod(o->path, 0660)) {
		why = strerror(errno);
		close(fd);
		fd = -errno;
	}
	if (fd < 0)
		log_line("--listen %s: %s", o->listen, why ?: strerror(-fd));
	return fd;
}
