/* SPDX-License-Identifier: GPL-2.0 */
/* Address of a socket that has a path: the sensor's for `saluki status`, the collector's for `ctl`.
 */
#ifndef COMMON_UNIX_ADDRESS_H
#define COMMON_UNIX_ADDRESS_H

#include <sys/un.h>

/* Returns 0, -ENAMETOOLONG, or -ENOENT: it is empty. */
int unix_address(struct sockaddr_un *a, const char *path);

#endif
