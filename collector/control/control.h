/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control: orders to sensors. In: clients of the control socket (saluki-collector ctl), each with
 * one packet, "SENSOR ORDER" or "group:GROUP ORDER". Out: the order to this sensor, or to all
 * present sensors of the group (commands.h). The client gets a packet for each answer of a group's
 * sensors, and a last one, each a digit and a text. Always holds: a client has one order, and the
 * number of clients is bounded. Orders of a client that has left are cancelled. Unread replies are
 * queued up to a limit, and the last reply is never left out.
 */
#ifndef COLLECTOR_CONTROL_CONTROL_H
#define COLLECTOR_CONTROL_CONTROL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "commands.h"
#include "collector/network/network.h"
#include "wire/order.h"

#define CONTROL_PATH "/run/saluki-collector/control"
#define CONTROL_CLIENTS 16
#define CONTROL_SILENCE_NS 5000000000ULL /* a client that is silent so long is closed */
#define CONTROL_GROUP_NS 5000000000ULL	 /* how long a group's sensors may take to answer */
#define CONTROL_GROUP "group:"		 /* before a group's name; sensors' names have no colon */
#define CONTROL_NAME_MAX (sizeof(CONTROL_GROUP) - 1 + SENSOR_NAME_MAX)
#define CONTROL_REQUEST_MAX (CONTROL_NAME_MAX + WIRE_ORDER_TEXT_MAX + 1)
#define CONTROL_REPLY_MAX (2 + ANSWER_TEXT_MAX + 200)
#define CONTROL_WAITING_MAX (1 << 20) /* bytes of queued answers per client */

/* The first byte of a reply; a blank and the text follow. DONE and FAILED are last replies. */
enum control_reply {
	CONTROL_DONE = '0',
	CONTROL_FAILED = '1',
	CONTROL_ONE_DONE = '2', /* a sensor of a group */
	CONTROL_ONE_FAILED = '3',
};

struct groups;

struct control_client {
	struct control *control;
	int fd;				    /* -1: free */
	bool has_asked;			    /* its request was read */
	bool has_ended;			    /* its last reply is queued */
	uint32_t focus_ms;		    /* its order's focus time; 0: no focus */
	unsigned int asked, answered, done; /* sensors */
	unsigned int left_out;		    /* answers without room in the queue */
	uint64_t due_ns;		    /* monotonic: when silence closes it; 0: not set */
	/* Queued packets, while the socket is full. Each follows its length in 2 bytes. */
	uint8_t *waiting;
	size_t waiting_at, waiting_len, waiting_room;
};

struct control {
	int listener, epoll; /* -1: none */
	struct commands *commands;
	struct sensors *sensors;
	struct groups *groups; /* NULL: none */
	struct control_client clients[CONTROL_CLIENTS];
};

/* Makes the socket, and the folder of CONTROL_PATH if needed. Needs privilege. Returns the socket,
 * or -errno after a line; -EADDRINUSE: another collector listens there. */
int control_listen(const char *path);

/* Takes over `listener`; -1: none. Call it before system calls are limited, and control_serve()
 * whenever c->epoll is readable. Returns 0, or -errno after a line. */
int control_init(struct control *c, int listener, struct commands *d, struct sensors *list,
		 struct groups *groups);
void control_free(struct control *c);
/* Accepts clients, and reads their requests. */
void control_serve(struct control *c, uint64_t now_ns);
/* Closes silent clients. Returns milliseconds until the next call; -1: any time. */
int control_tick(struct control *c, uint64_t now_ns);

#endif
