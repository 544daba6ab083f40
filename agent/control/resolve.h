/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resolve: resolves the collectors' names in a separate process. In: a name's number. Out: its
 * address, or an error. The C library may open any file for this, and parses untrusted answers. So
 * it runs without keys and frames, in a process that is forked before there are any.
 */
#ifndef AGENT_CONTROL_RESOLVE_H
#define AGENT_CONTROL_RESOLVE_H

#include <stdint.h>

#include "agent/export/sockets.h"

struct resolved {
	uint32_t name;	/* the name's number */
	int32_t error;	/* 0, or not 0 with the reason in `why` */
	int32_t routed; /* 0, or -errno: currently no route */
	char why[80];
	socklen_t len;
	struct sockaddr_storage to;
};

/* Starts it. Call it without privilege, before there are keys, frames and threads. Returns the
 * non-blocking socket for requests, or -errno after a line. The process ends when its socket is
 * closed. */
int resolve_start(const struct sockets_name *names);
/* Requests the address of name `name`. The answer is there when the socket is readable. Returns 0
 * or -errno. */
int resolve_ask(int sock, uint32_t name);
/* Reads an answer. Returns 0, -EAGAIN if there is none yet, or another -errno: no more answers will
 * come.
 */
int resolve_answer(int sock, struct resolved *r);

#endif
