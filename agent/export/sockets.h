/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets: where collectors are, and the sockets to them. All are opened before the sandbox, and
 * for a new port one is disconnected and connected again: the kernel gives its port back and
 * chooses another. Every datagram has DF set, and no flow label.
 */
#ifndef AGENT_EXPORT_SOCKETS_H
#define AGENT_EXPORT_SOCKETS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#define SOCKETS_PEERS 4
#define SOCKETS_MAX 5 /* in use at a time */

struct sockets_name {
	const char *host, *port;
};

struct sockets_address {
	char name[280]; /* HOST:PORT */
	struct sockaddr_storage to;
	socklen_t len; /* 0: not known */
};

struct sockets {
	struct {
		int fd;
		sa_family_t family; /* 0: none */
		bool used;
	} sockets[2 * SOCKETS_MAX];
};

/* Takes an address, and sets `a->name`. Returns 0; -ENOENT where a name has to be looked up for it:
 * `a->len` is 0 then. Asks nobody. */
int sockets_numeric(struct sockets_address *a, const struct sockets_name *name);
/* Looks a name up, which may take some time: the first address that there is a route to, or the
 * first one. Returns 0 or an error for gai_strerror(3). */
int sockets_look_up(struct sockets_address *a, const struct sockets_name *name);
/* Returns 0 where there is a route to it, or -errno. */
int sockets_route(const struct sockets_address *a);
/* Opens what sockets addresses of this family need. Returns 0 or -errno. */
int sockets_open(struct sockets *r, sa_family_t family);
void sockets_close(struct sockets *r);
/* A socket connected to `a`, from a new port. Returns it, or -errno: -EDESTADDRREQ where the
 * address is not known. */
int sockets_take(struct sockets *r, const struct sockets_address *a);
/* Gives it back, its port too. Takes -1. */
void sockets_give(struct sockets *r, int fd);

#endif
