/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reach: where collectors are, and the sockets to them. All are opened before the sandbox, and for
 * a new port one is disconnected and connected again: the kernel gives its port back and chooses
 * another. Every datagram has DF set, and no flow label.
 */
#ifndef AGENT_REACH_H
#define AGENT_REACH_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#define REACH_PEERS 4
#define REACH_SOCKETS 5 /* in use at a time */

struct reach_name {
	const char *host, *port;
};

struct reach_address {
	char name[280]; /* HOST:PORT */
	struct sockaddr_storage to;
	socklen_t len; /* 0: not known */
};

struct reach {
	struct {
		int fd;
		sa_family_t family; /* 0: none */
		bool used;
	} sockets[2 * REACH_SOCKETS];
};

/* Takes an address, and sets `a->name`. Returns 0; -ENOENT where a name has to be looked up for it:
 * `a->len` is 0 then. Asks nobody. */
int reach_numeric(struct reach_address *a, const struct reach_name *name);
/* Looks a name up, which may take some time: the first address that there is a route to, or the
 * first one. Returns 0 or an error for gai_strerror(3). */
int reach_look_up(struct reach_address *a, const struct reach_name *name);
/* Returns 0 where there is a route to it, or -errno. */
int reach_route(const struct reach_address *a);
/* Opens what sockets addresses of this family need. Returns 0 or -errno. */
int reach_open(struct reach *r, sa_family_t family);
void reach_close(struct reach *r);
/* A socket connected to `a`, from a new port. Returns it, or -errno: -EDESTADDRREQ where the
 * address is not known. */
int reach_take(struct reach *r, const struct reach_address *a);
/* Gives it back, its port too. Takes -1. */
void reach_give(struct reach *r, int fd);

#endif
