/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connect: a process that requests the board from the collector's socket. The server reads
 * strangers' requests, and therefore cannot make connections.
 */
#ifndef WEB_CONNECT_H
#define WEB_CONNECT_H

/* Starts the process, which closes `listener`. Returns the socket to the process, or -errno after a
 * line. */
int connect_start(const char *path, int listener);
/* Asks for the board. The answer comes later: the socket is readable. Returns 0 or -errno. */
int connect_ask(int sock);
/* Takes the answer: a descriptor of the board, or -errno; -EPIPE: the process has ended. */
int connect_take(int sock);

#endif
