/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEB_SANDBOX_H
#define WEB_SANDBOX_H

/* Confines the process that serves: it becomes `user`, and cannot open files or make sockets.
 * Returns 0, or -errno after a line. */
int sandbox_server(const char *user);
/* Confines the process that connects: it can make Unix sockets, and cannot open files. */
int sandbox_connector(void);

#endif
