/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clients: limits each connection's time. The library ends a connection on which nothing happens;
 * this also ends one on which bytes trickle, and makes room if many connections are silent.
 */
#ifndef WEB_CLIENTS_H
#define WEB_CLIENTS_H

#include <stdint.h>

#define CLIENTS_MAX 32
#define CLIENTS_READ_S 10  /* for a request */
#define CLIENTS_WRITE_S 60 /* for an answer */

enum client_state { CLIENT_FREE, CLIENT_READING, CLIENT_ANSWERED };

struct client {
	enum client_state state;
	int fd; /* the library closes it */
	uint64_t since_ns;
};

struct clients {
	struct client table[CLIENTS_MAX];
};

/* A connection has begun. Returns its record; NULL: there is no room. */
struct client *clients_add(struct clients *c, int fd, uint64_t now_ns);
/* Its state has changed. */
void client_set(struct client *c, enum client_state state, uint64_t now_ns);
/* Ends connections that take too long. */
void clients_tick(struct clients *c, uint64_t now_ns);

#endif
