// SPDX-License-Identifier: GPL-2.0
/* Takes descriptors: see unix_take.h. */
#include "unix_take.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "privsep.h"
#include "unix_address.h"

int unix_take(const char *path, int ms, void *message, size_t len, int *fds)
{
	const struct timeval patience = { ms / 1000, ms % 1000 * 1000 };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;
	struct sockaddr_un a;

	memset(fds, -1, PRIVSEP_FDS_MAX * sizeof(*fds));
	if (sock < 0)
		return -errno;
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	err = unix_address(&a, path);
	if (!err && connect(sock, (struct sockaddr *)&a, sizeof(a)))
		err = -errno;
	err = err ?: privsep_recv(sock, message, len, fds);
	close(sock);
	return err;
}
