/* SPDX-License-Identifier: GPL-2.0 */
/* Address of a socket that has a path. */
#ifndef COMMON_UNIX_ADDRESS_H
#define COMMON_UNIX_ADDRESS_H

#include <errno.h>
#include <string.h>
#include <sys/un.h>

/* Returns 0 or -ENAMETOOLONG. */
static inline int unix_address(struct sockaddr_un *a, const char *path)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(a->sun_path))
		return -ENAMETOOLONG;
	strcpy(a->sun_path, path);
	return 0;
}

#endif
