/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Status socket: lets other commands (saluki status, filter) query a running agent's privileged
 * process: one socket per interface beside its lock (lock.h), for its owner only. A request and its
 * answer are one message each; then the connection ends.
 */
#ifndef AGENT_STATUS_STATUS_SOCKET_H
#define AGENT_STATUS_STATUS_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/model/handover.h"
#include "agent/model/statistics.h"
#include "agent/tap/tap.h"

enum { STATUS_SOCKET_STATUS = 1, STATUS_SOCKET_FILTER = 2 };

struct status_socket_request {
	uint32_t size; /* of this struct: other versions are refused */
	uint32_t what; /* CTL_ */
	/* STATUS_SOCKET_FILTER: the new filter, and its LINKTYPE_.
	 */
	int32_t linktype;
	struct filter filter; /* not sent with STATUS_SOCKET_STATUS */
};

/* A status query's answer has no filter, to save stack. */
#define STATUS_SOCKET_STATUS_LEN offsetof(struct status_socket_request, filter)

struct status_socket_answer {
	uint32_t size;
	int32_t error; /* 0, or -errno with the reason in `why` */
	char why[512];
	pid_t pid;
	uint32_t number; /* the interface's number, and their count */
	uint32_t count;
	uint32_t snaplen;
	uint32_t consume;
	uint32_t direction;		     /* enum direction */
	struct handover_interface interface; /* `source` is "" while not attached */
	char ring[64];
	char plan[128]; /* --channels, truncated; "": not given */
	struct statistics news;
};

/* ---- the agent ------------------------------------------------------------------------------- */

struct status_socket {
	int listeners[INTERFACES_MAX]; /* -1: none */
	char paths[INTERFACES_MAX][LOCK_PATH_MAX];
	struct tap *tap;
	const struct shared_statistics *board;
};

/* Listens for all interfaces of the tap, whose locks are held. Logs a failure; the capture goes on
 * without. */
void status_socket_open(struct status_socket *c, struct tap *t,
			const struct shared_statistics *board);
/* Answers a client of listener `i`. Returns whether the capture of interface `i` changed. */
bool status_socket_serve(struct status_socket *c, unsigned int i);
void status_socket_close(struct status_socket *c); /* accepts a zeroed one */

/* ---- other commands -------------------------------------------------------------------------- */

/* Queries the agent of an interface in this namespace. Returns 0, or -errno: -ENOENT if there is
 * none, `answer->error` if it refuses. */
int status_socket_ask(const char *interface, const struct status_socket_request *r,
		      struct status_socket_answer *answer);

#endif
