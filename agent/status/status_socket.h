/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Status socket: what other commands (saluki status, filter) ask of a running agent, and its
 * privileged process answers: a socket an interface beside its lock (lock.h), for its owner alone.
 * A request is a message, and so is its answer; then the connection ends.
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
	uint32_t size; /* of this struct: another version's is refused */
	uint32_t what; /* CTL_ */
	/* STATUS_SOCKET_FILTER: what is to be captured from now on, and the LINKTYPE_ that it was
	 * made for.
	 */
	int32_t linktype;
	struct filter filter; /* not sent with STATUS_SOCKET_STATUS */
};

/* An agent that is asked for its status has no stack for a filter. */
#define STATUS_SOCKET_STATUS_LEN offsetof(struct status_socket_request, filter)

struct status_socket_answer {
	uint32_t size;
	int32_t error; /* 0, or -errno with the reason in `why` */
	char why[512];
	pid_t pid;
	uint32_t number; /* of the interface, and how many there are */
	uint32_t count;
	uint32_t snaplen;
	uint32_t consume;
	uint32_t direction;		     /* enum direction */
	struct handover_interface interface; /* `source` is "" while it is not attached */
	char ring[64];
	char plan[128]; /* --channels, cut; "": not given */
	struct statistics news;
};

/* ---- the agent ------------------------------------------------------------------------------- */

struct status_socket {
	int listeners[INTERFACES_MAX]; /* -1: none */
	char paths[INTERFACES_MAX][LOCK_PATH_MAX];
	struct tap *tap;
	const struct shared_statistics *board;
};

/* Listens for all interfaces of the tap, whose locks are held. Where it cannot, it says so and the
 * capture goes on without. */
void status_socket_open(struct status_socket *c, struct tap *t,
			const struct shared_statistics *board);
/* Answers who has come to listener `i`. Returns whether interface `i` is another way now. */
bool status_socket_serve(struct status_socket *c, unsigned int i);
void status_socket_close(struct status_socket *c); /* takes a zeroed one */

/* ---- other commands -------------------------------------------------------------------------- */

/* Asks the agent of an interface in this namespace. Returns 0, or -errno: -ENOENT where there is
 * none, `answer->error` where it says no. */
int status_socket_ask(const char *interface, const struct status_socket_request *r,
		      struct status_socket_answer *answer);

#endif
