/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resolve: looks the collectors' names up, in a process that has nothing else. In: the number of a
 * name. Out: its address, or why there is none. The C library may open anything for that, and reads
 * what strangers answer. So it is done where there are no keys and no frames, in a process that is
 * forked while there are none yet.
 */
#ifndef AGENT_CONTROL_RESOLVE_H
#define AGENT_CONTROL_RESOLVE_H

#include <stdint.h>

#include "agent/export/sockets.h"

struct resolved {
	uint32_t name;	/* its number */
	int32_t error;	/* 0, or the reason is in `why` */
	int32_t routed; /* 0, or -errno: no route there at present */
	char why[80];
	socklen_t len;
	struct sockaddr_storage to;
};

/* Starts it. Called without privilege, before there are keys, frames and threads. Returns the
 * socket to ask on, non-blocking, or -errno after a line. It ends with its socket. */
int resolve_start(const struct sockets_name *names);
/* Asks for name `name`; the answer can be read when the socket is readable. Returns 0 or -errno. */
int resolve_ask(int sock, uint32_t name);
/* Reads an answer. Returns 0, -EAGAIN where there is none yet, or -errno: none will come any more.
 */
int resolve_answer(int sock, struct resolved *r);

#endif
