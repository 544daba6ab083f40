// SPDX-License-Identifier: GPL-2.0
/* Sink, the socket: see sink.h. */
#include <sys/socket.h>

#include "collector/files/handout.h"
#include "common/log.h"
#include "common/unix_listen.h"
#include "sink.h"

#define GROUP "saluki-kafka"

int sink_listen(const char *path)
{
	const char *why;
	int fd = unix_listen(path, SOCK_SEQPACKET, false, 1, &why);

	if (fd < 0)
		log_line("--sink %s: %s", path, why);
	else
		handout_permit("--sink", path, GROUP);
	return fd;
}
