// SPDX-License-Identifier: GPL-2.0
/* Control, the socket: see control.h. Only the collector's owner may connect. */
#include <string.h>

#include "common/log.h"
#include "common/unix_listen.h"
#include "control.h"

int control_listen(const char *path)
{
	const char *why;
	int fd = unix_listen(path, SOCK_SEQPACKET, !strcmp(path, CONTROL_PATH), CONTROL_CLIENTS,
			     &why);

	if (fd < 0)
		log_line("--control %s: %s", path, why);
	return fd;
}
