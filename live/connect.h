/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connect: a process that requests the collector's memories from the collector's socket. The viewer
 * itself reads untrusted frames, and therefore cannot make connections.
 */
#ifndef LIVE_CONNECT_H
#define LIVE_CONNECT_H

#include "source.h"

/* Asks in this process, and waits at most `ms` for each step. Returns 0 or -errno. */
int connect_now(const char *path, struct source *s, int ms);
/* Starts the process, which closes `output`, so that the reader notices our end. Returns the socket
 * to the process, or -errno after a line. */
int connect_start(const char *path, int output);
/* Asks for the memories. The answer comes later: the socket is readable. */
int connect_ask(int sock);
/* Takes the answer. Returns 0, the collector's -errno without a line, or -EPROTO after a line. */
int connect_take(int sock, struct source *s);
/* Logs why there is no collector at `path`. */
void connect_explain(const char *path, int err);

#endif
