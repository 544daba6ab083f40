/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control: orders to sensors. In: who comes to the control socket (saluki-collector ctl), with one
 * packet, "SENSOR ORDER". Out: the ORDER in the sensor's session, each second until its ANSWER or
 * until who waits for it has left; to that one a packet, a digit and a text. Always holds: a client
 * waits for one order, a sensor has one order at a time, and both are bounded.
 */
#ifndef COLLECTOR_CONTROL_H
#define COLLECTOR_CONTROL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "open.h"
#include "wire/order.h"

#define CONTROL_PATH "/run/saluki-collector/control"
#define CONTROL_CLIENTS 16
#define CONTROL_REPEAT_NS 1000000000ULL
#define CONTROL_AGAIN_NS 50000000ULL	 /* where the session has no room for it */
#define CONTROL_SILENCE_NS 5000000000ULL /* who comes must say what it wants */
#define CONTROL_REQUEST_MAX (SENSOR_NAME_MAX + ORDER_TEXT_MAX + 1)
#define CONTROL_REPLY_MAX (2 + ANSWER_TEXT_MAX + 200)

/* The first byte of a reply; a blank and the text are behind it. */
enum control_reply { CONTROL_DONE = '0', CONTROL_FAILED = '1' };

struct control_client {
	int fd;		/* -1: nobody */
	bool has_asked; /* the next two are set */
	char sensor[SENSOR_NAME_MAX];
	char text[ORDER_TEXT_MAX + 1];
	uint64_t number; /* of its order; 0: it waits for another one's to the same sensor */
	uint64_t turn;	 /* the lower, the earlier it came */
	uint64_t due_ns; /* monotonic: the order is sent (again), or its silence ends it */
};

struct control {
	int listener, epoll; /* -1: there is none */
	struct open *open;
	uint64_t number, turns; /* the last ones */
	struct control_client clients[CONTROL_CLIENTS];
};

/* Makes the socket, with privilege; in the folder of CONTROL_PATH, which is made where it is not
 * there. Returns it, or -errno after a line, -EADDRINUSE: another collector has it. */
int control_listen(const char *path);

/* `listener` is taken over, -1: there is none. Called before system calls are limited. Returns 0 or
 * -errno after a line. Whatever may come is to be read when c->epoll is readable. */
int control_init(struct control *c, int listener, struct open *o);
void control_free(struct control *c);
/* Who has come, what they ask. */
void control_serve(struct control *c, uint64_t now_ns);
/* Sends what is due. Returns milliseconds until it is to be called again, -1: whenever. */
int control_tick(struct control *c, uint64_t now_ns);
/* An ANSWER: open.h's `answered`. */
void control_answered(void *user, struct sensor *s, uint64_t number, uint8_t status,
		      const uint8_t *text, size_t len);

#endif
