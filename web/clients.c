// SPDX-License-Identifier: GPL-2.0
/* Clients: see clients.h. */
#include "clients.h"

#include <stddef.h>
#include <sys/socket.h>

#define SECOND_NS 1000000000ULL
#define CROWDED (CLIENTS_MAX * 3 / 4)

/* The library notices the end, and closes the connection. */
static void end(struct client *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->state = CLIENT_ANSWERED;
}

/* If there is little room, ends the connection that has waited longest for a request. */
static void make_room(struct clients *c)
{
	struct client *oldest = NULL;
	int used = 0;

	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *x = &c->table[i];

		used += x->state != CLIENT_FREE;
		if (x->state == CLIENT_READING && (!oldest || x->since_ns < oldest->since_ns))
			oldest = x;
	}
	if (used >= CROWDED && oldest)
		end(oldest);
}

struct client *clients_add(struct clients *c, int fd, uint64_t now_ns)
{
	make_room(c);
	for (int i = 0; i < CLIENTS_MAX; i++)
		if (c->table[i].state == CLIENT_FREE) {
			c->table[i] = (struct client){ CLIENT_READING, fd, now_ns };
			return &c->table[i];
		}
	return NULL;
}

void client_set(struct client *c, enum client_state state, uint64_t now_ns)
{
	c->state = state;
	c->since_ns = now_ns;
}

void clients_tick(struct clients *c, uint64_t now_ns)
{
	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *x = &c->table[i];
		uint64_t age_ns = now_ns - x->since_ns;

		if ((x->state == CLIENT_READING && age_ns >= CLIENTS_READ_S * SECOND_NS) ||
		    (x->state == CLIENT_ANSWERED && age_ns >= CLIENTS_WRITE_S * SECOND_NS))
			end(x);
	}
}
