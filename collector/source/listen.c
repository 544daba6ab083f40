// SPDX-License-Identifier: GPL-2.0
/* Source, the socket: see listen.h. */
#include "listen.h"

#include <sys/socket.h>

#include "collector/files/handout.h"
#include "common/log.h"
#include "common/unix_listen.h"

#define BACKLOG 4

int source_listen(const char *path)
{
	const char *why;
	int fd = unix_listen(path, SOCK_SEQPACKET, 0, BACKLOG, &why);

	if (fd < 0)
		log_line("--source %s: %s", path, why);
	else
		handout_permit("--source", path, SOURCE_GROUP);
	return fd;
}
