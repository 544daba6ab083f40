/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sockets: collectors' addresses, and the sockets to them. All are opened before the sandbox. For a
 * new port, a socket is disconnected and connected again: the kernel releases its port and chooses
 * another. Every datagram has DF set, and no flow label.
 */
#ifndef AGENT_EXPORT_SOCKETS_H
#define AGENT_EXPORT_SOCKETS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#ifndef UDP_SEGMENT /* linux/udp.h, since Linux 4.18 */
#define UDP_SEGMENT 103
#endif

#define SOCKETS_PEERS 4
#define SOCKETS_MAX 5 /* in use at once */

struct sockets_name {
	const char *host, *port;
	int inherited; /* without a host: a socket that is connected to a collector (local.h) */
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
	bool segments; /* sockets_can_segment */
	bool ended;    /* the collector has closed its end of the inherited socket */
};

/* Parses an address, and sets `a->name`. Returns 0; -ENOENT if a name must be resolved: then
 * `a->len` is 0. Sends nothing. */
int sockets_numeric(struct sockets_address *a, const struct sockets_name *name);
/* Resolves a name, which may take some time: the first address with a route, or the first one.
 * Returns 0 or an error for gai_strerror(3). */
int sockets_look_up(struct sockets_address *a, const struct sockets_name *name);
/* Returns 0 if there is a route to it, or -errno. */
int sockets_route(const struct sockets_address *a);
/* Returns whether the kernel may cut several datagrams from one buffer by UDP_SEGMENT (udp(7)). A
 * kernel that does not know it would send the buffer as one datagram. */
bool sockets_can_segment(int sock);
/* Takes an inherited socket, AF_UNIX and SOCK_SEQPACKET. All sessions share it. */
void sockets_inherit(struct sockets *r, int fd);
/* Opens the sockets for addresses of this family. Returns 0 or -errno. */
int sockets_open(struct sockets *r, sa_family_t family);
void sockets_close(struct sockets *r);
/* Returns a socket connected to `a`, from a new port, or -errno: -EDESTADDRREQ if the address is
 * not known. */
int sockets_take(struct sockets *r, const struct sockets_address *a);
/* Releases the socket and its port. Accepts negative ones. */
void sockets_give(struct sockets *r, int fd);

#endif
