// SPDX-License-Identifier: GPL-2.0
/* Connect: see connect.h. */
#include "connect.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "board/read.h"
#include "common/log.h"
#include "common/privsep.h"
#include "sandbox.h"

/* Root, which owns the board of a collector that root started, keeps the board's group. */
static int confine(void)
{
	const struct group *g = getgrnam(BOARD_GROUP);

	if (geteuid() == 0 && setgroups(g ? 1 : 0, g ? &g->gr_gid : NULL)) {
		log_line("cannot give up groups: %s", strerror(errno));
		return -errno;
	}
	return sandbox_connector();
}

static void serve(int sock, const char *path)
{
	char order = 0;

	while (privsep_recv(sock, &order, 1, NULL) == 0) {
		int fd = board_take(path), err = fd < 0 ? fd : 0;

		err = privsep_send(sock, &err, sizeof(err), &fd, fd >= 0);
		if (fd >= 0)
			close(fd);
		if (err)
			break;
	}
}

int connect_start(const char *path, int listener)
{
	int sock;
	pid_t child = privsep_fork(&sock);

	if (child < 0)
		return -EAGAIN;
	if (child == 0) {
		close(listener);
		if (confine() == 0)
			serve(sock, path);
		_exit(0);
	}
	return sock;
}

int connect_ask(int sock)
{
	return privsep_send(sock, "", 1, NULL, 0);
}

int connect_take(int sock)
{
	int fds[PRIVSEP_FDS_MAX], answer, err = privsep_recv(sock, &answer, sizeof(answer), fds);

	if (!err && !answer && fds[0] >= 0)
		return fds[0];
	for (int i = 0; i < PRIVSEP_FDS_MAX && fds[i] >= 0; i++)
		close(fds[i]);
	return err ?: answer < 0 ? answer : -EPROTO;
}
