/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control: orders to sensors. In: who comes to the control socket (saluki-collector ctl), with one
 * packet, "SENSOR ORDER" or "group:GROUP ORDER". Out: the order to that sensor, or to all of the
 * group that are present (commands.h); to who asked, a packet for each answer of a group's sensors,
 * and a last one, each a digit and a text. Always holds: a client has one order, there are few of
 * them, and nothing is done any more for one that has left; what one does not read waits, within
 * bounds, and the last word is not what is left out.
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
#define CONTROL_SILENCE_NS 5000000000ULL /* who says, or reads, nothing for so long is left */
#define CONTROL_GROUP_NS 5000000000ULL	 /* who of a group has not answered by then, does not */
#define CONTROL_GROUP "group:"		 /* in front of a group's name; no sensor's has a colon */
#define CONTROL_NAME_MAX (sizeof(CONTROL_GROUP) - 1 + SENSOR_NAME_MAX)
#define CONTROL_REQUEST_MAX (CONTROL_NAME_MAX + WIRE_ORDER_TEXT_MAX + 1)
#define CONTROL_REPLY_MAX (2 + ANSWER_TEXT_MAX + 200)
#define CONTROL_WAITING_MAX (1 << 20) /* bytes of answers that a client has not read */

/* The first byte of a reply; a blank and the text are behind it. The first two are the last. */
enum control_reply {
	CONTROL_DONE = '0',
	CONTROL_FAILED = '1',
	CONTROL_ONE_DONE = '2', /* of a group */
	CONTROL_ONE_FAILED = '3',
};

struct groups;

struct control_client {
	struct control *control;
	int fd;				    /* -1: nobody */
	bool has_asked;			    /* what it waits for is on its way */
	bool has_ended;			    /* the last word is among what it has not read */
	uint32_t focus_ms;		    /* of its order; 0: it is no focus */
	unsigned int asked, answered, done; /* sensors */
	unsigned int left_out;		    /* answers that there was no room for */
	uint64_t due_ns;		    /* monotonic: its silence ends it; 0: not known yet */
	/* What the socket has no room for: packets, each behind its length, 2 bytes. */
	uint8_t *waiting;
	size_t waiting_at, waiting_len, waiting_room;
};

struct control {
	int listener, epoll; /* -1: there is none */
	struct commands *dispatch;
	struct sensors *sensors;
	struct groups *groups; /* NULL: there are none */
	struct control_client clients[CONTROL_CLIENTS];
};

/* Makes the socket, with privilege; in the folder of CONTROL_PATH, which is made where it is not
 * there. Returns it, or -errno after a line, -EADDRINUSE: another collector has it. */
int control_listen(const char *path);

/* `listener` is taken over, -1: there is none. Called before system calls are limited. Returns 0 or
 * -errno after a line. Whatever may come is to be read when c->epoll is readable. */
int control_init(struct control *c, int listener, struct commands *d, struct sensors *list,
		 struct groups *groups);
void control_free(struct control *c);
/* Who has come, what they ask. */
void control_serve(struct control *c, uint64_t now_ns);
/* Ends who says nothing. Returns milliseconds until it is to be called again, -1: whenever. */
int control_tick(struct control *c, uint64_t now_ns);

#endif
