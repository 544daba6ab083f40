// SPDX-License-Identifier: GPL-2.0
/* Notify: see notify.h. */
#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"
#include "unix_address.h"

bool notify_is_wanted(void)
{
	const char *path = getenv("NOTIFY_SOCKET");

	return path && *path;
}

/* An abstract address has a 0 byte in place of the @, and ends with its length. */
static int notify_connect(int sock, const char *path)
{
	struct sockaddr_un a;
	socklen_t len = sizeof(a);
	int err = unix_address(&a, path);

	if (err)
		return err;
	if (*path == '@') {
		a.sun_path[0] = 0;
		len = offsetof(struct sockaddr_un, sun_path) + strlen(path);
	}
	return connect(sock, (struct sockaddr *)&a, len) ? -errno : 0;
}

void notify_open(struct notify *n)
{
	const char *path = getenv("NOTIFY_SOCKET");
	int err;

	*n = (struct notify)NOTIFY_NONE;
	if (!path || !*path)
		return;
	n->sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = n->sock < 0 ? -errno : notify_connect(n->sock, path);
	if (!err)
		return;
	log_line("NOTIFY_SOCKET %s: %s", path, strerror(-err));
	notify_close(n);
}

/* Never waits: the service manager may hang. sendmsg() is in every sandbox. */
static void notify_send(const struct notify *n, const char *text)
{
	struct iovec iov = { (void *)text, strlen(text) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n->sock >= 0 && sendmsg(n->sock, &m, MSG_NOSIGNAL) < 0)
		return; /* it sees the missing signs of life */
}

void notify_alive(struct notify *n, const char *status)
{
	char text[256];

	snprintf(text, sizeof(text), "%sWATCHDOG=1\nSTATUS=%s", n->ready ? "" : "READY=1\n",
		 status);
	n->ready = true;
	notify_send(n, text);
}

void notify_reloading(struct notify *n)
{
	notify_send(n, "RELOADING=1");
}

void notify_reloaded(struct notify *n)
{
	notify_send(n, "READY=1");
}

void notify_stopping(struct notify *n)
{
	n->ready = true; /* it does not become ready any more */
	notify_send(n, "STOPPING=1\nSTATUS=stopping");
}

void notify_close(struct notify *n)
{
	if (n->sock >= 0)
		close(n->sock);
	n->sock = -1;
}
