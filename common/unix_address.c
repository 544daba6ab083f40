// SPDX-License-Identifier: GPL-2.0
/* Addresses of sockets that have a path: see unix_address.h. */
#include "unix_address.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int unix_address(struct sockaddr_un *a, const char *path)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (!*path) /* the kernel would take it for an abstract name */
		return -ENOENT;
	if (strlen(path) >= sizeof(a->sun_path))
		return -ENAMETOOLONG;
	strcpy(a->sun_path, path);
	return 0;
}
