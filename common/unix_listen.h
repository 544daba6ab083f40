/* SPDX-License-Identifier: GPL-2.0 */
/* Listens on a socket that has a path. */
#ifndef COMMON_UNIX_LISTEN_H
#define COMMON_UNIX_LISTEN_H

/* Makes a socket of `type` (SOCK_SEQPACKET, SOCK_STREAM) at `path` for its owner only, in place of
 * a socket on which nobody listens any more. With `folder`, makes the path's folder. Returns a
 * descriptor, or -errno with the reason in `why`. */
int unix_listen(const char *path, int type, int folder, int backlog, const char **why);

#endif
