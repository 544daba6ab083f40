// SPDX-License-Identifier: GPL-2.0
/* Helper: see helper.h. */
#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/rings/xsk.h"
#include "common/log.h"

#define DESCRIPTORS_MAX 1024

static void close_others(int sock)
{
	for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS_MAX; fd++)
		if (fd != sock)
			close(fd);
}

int helper_start(const char *what, void (*serve)(int sock, const void *arg), const void *arg)
{
	int socks[2], err;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks)) {
		err = -errno;
		log_line("cannot make a socket pair: %s", strerror(-err));
		return err;
	}
	child = fork();
	if (child == 0) {
		close_others(socks[1]);
		xsk_sockets_forget_memory();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(socks[1], arg);
		_exit(1);
	}
	close(socks[1]);
	if (child > 0 && fcntl(socks[0], F_SETFL, O_NONBLOCK) == 0)
		return socks[0];
	err = -errno;
	log_line("cannot start a process that %s: %s", what, strerror(-err));
	close(socks[0]);
	return err;
}
