// SPDX-License-Identifier: GPL-2.0
/* Reload: see reload.h. The socket names the process that listens, so no file has its number. */
#include "reload.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/unix_address.h"

/* Returns the collector's process, or -errno. */
static pid_t find_collector(const char *control)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	struct sockaddr_un a;
	int fd, err = unix_address(&a, control);

	fd = err ? err : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err ?: -errno;
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		err = -errno;
	close(fd);
	return err ?: peer.pid > 0 ? peer.pid : -ESRCH; /* 0: in another container */
}

int reload_collector(const char *control)
{
	pid_t pid = strcmp(control, "none") ? find_collector(control) : -ENOENT;
	int err = pid < 0 ? pid : kill(pid, SIGHUP) ? -errno : 0;

	if (err == -ENOENT || err == -ECONNREFUSED) {
		printf("no collector is running at %s; it reads the file when it starts\n",
		       control);
		return 0;
	}
	if (!err)
		printf("the running collector (process %d) reads the file again\n", pid);
	else
		log_line("--control %s: %s; send SIGHUP to the collector", control, strerror(-err));
	return err;
}
