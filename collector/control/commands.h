/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands: orders on their way to sensors. In: an order and for whom, from a client of the control
 * socket (control.c) or from a group's plan (groups.c). Out: the ORDER in the sensor's session,
 * each second until its ANSWER; to who asked, the answer. Always holds: a sensor has one order at a
 * time, and they go in the order in which they were asked for.
 */
#ifndef COLLECTOR_CONTROL_COMMANDS_H
#define COLLECTOR_CONTROL_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/network/network.h"
#include "wire/order.h"

#define COMMANDS_REPEAT_NS 1000000000ULL
#define COMMANDS_AGAIN_NS 50000000ULL /* where the session has no room for it */

/* What became of an order besides enum answer_status. */
enum { COMMANDS_UNHEARD = -1, COMMANDS_GIVEN_UP = -2, COMMANDS_UNSENT = -3 };

/* `status` is what the sensor answered or one of the above; `text` says what. */
typedef void commands_done(void *user, struct sensor *s, int status, const char *text);

struct commands_order {
	struct commands_order *next;
	struct sensor *sensor;
	commands_done *done; /* NULL: it has ended, or nobody waits for it any more */
	void *user;
	uint64_t number;   /* 0: it was not sent yet */
	uint64_t due_ns;   /* monotonic: it is sent (again) */
	uint64_t until_ns; /* monotonic: it is given up; 0: never */
	char text[];
};

struct commands {
	struct network *open;
	uint64_t number;  /* the last one */
	uint64_t next_ns; /* monotonic: nothing is due before */
	struct commands_order *first, **end;
};

/* Takes session_receive.h's `answered`. */
void commands_init(struct commands *d, struct network *o);
void commands_free(struct commands *d);
/* `done` is called once, but never from in here, unless it is cancelled before. `until_ns`: when it
 * is given up, 0: never. Returns 0 or -ENOMEM. */
int commands_add(struct commands *d, struct sensor *s, const char *text, uint64_t until_ns,
		 commands_done *done, void *user);
/* Nobody waits any more for what was asked for with this `user`. */
void commands_cancel(struct commands *d, const void *user);
/* Sends what is due. Returns milliseconds until it is to be called again, -1: whenever. */
int commands_tick(struct commands *d, uint64_t now_ns);
/* An ANSWER: session_receive.h's `answered`. */
void commands_answered(void *user, struct sensor *s, uint64_t number, uint8_t status,
		       const uint8_t *text, size_t len);

#endif
