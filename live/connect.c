// SPDX-License-Identifier: GPL-2.0
/* Connect: see connect.h. */
#include "connect.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/privsep.h"
#include "common/unix_take.h"

#define PATIENCE_MS 5000 /* many viewers may wait */

struct answer {
	int err;
	struct live_hello hello;
};

/* ---- the process ----------------------------------------------------------------------------- */

static int ask_collector(const char *path, int ms, struct live_hello *hello, int *fds)
{
	int err = unix_take(path, ms, hello, sizeof(*hello), fds);

	return err ?: fds[LIVE_FDS - 1] < 0 ? -EBADMSG : 0;
}

static void close_all(const int *fds)
{
	for (int i = 0; i < PRIVSEP_FDS_MAX && fds[i] >= 0; i++)
		close(fds[i]);
}

static void serve(int sock, const char *path)
{
	int nothing = open("/dev/null", O_RDWR);
	char order;

	/* The pipe's reader must notice the viewer's end. The viewer ends this process. */
	for (int fd = 0; nothing >= 0 && fd < 3; fd++)
		dup2(nothing, fd);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	while (privsep_recv(sock, &order, 1, NULL) == 0) {
		int fds[PRIVSEP_FDS_MAX];
		struct answer a = { 0 };

		a.err = ask_collector(path, PATIENCE_MS, &a.hello, fds);
		if (privsep_send(sock, &a, sizeof(a), fds, a.err ? 0 : LIVE_FDS))
			break;
		close_all(fds);
	}
	_exit(0);
}

/* ---- the viewer ------------------------------------------------------------------------------ */

int connect_start(const char *path, int output)
{
	int sock;
	pid_t child = privsep_fork(&sock);

	if (child < 0)
		return -EAGAIN;
	if (child == 0) {
		close(output); /* otherwise its reader would not notice our end */
		serve(sock, path);
	}
	return sock;
}

int connect_now(const char *path, struct source *s, int ms)
{
	int fds[PRIVSEP_FDS_MAX], err;
	struct live_hello hello;

	err = ask_collector(path, ms, &hello, fds);
	return err ?: source_map(s, &hello, fds);
}

int connect_ask(int sock)
{
	return privsep_send(sock, "", 1, NULL, 0);
}

int connect_take(int sock, struct source *s)
{
	int fds[PRIVSEP_FDS_MAX];
	struct answer a;
	int err = privsep_recv(sock, &a, sizeof(a), fds);

	if (err)
		return err;
	if (a.err)
		return a.err;
	return source_map(s, &a.hello, fds) ? -EPROTO : 0;
}

void connect_explain(const char *path, int err)
{
	if (err == -EACCES || err == -EPERM)
		log_line("%s: %s; are you in the group " LIVE_GROUP "? ('usermod -a -G " LIVE_GROUP
			 " NAME', and log in again)",
			 path, strerror(-err));
	else if (err == -ENOENT || err == -ECONNREFUSED)
		log_line("%s: no collector is there; is saluki-collector running on this machine?",
			 path);
	else if (err != -EPROTO)
		log_line("%s: %s", path, strerror(-err));
}
