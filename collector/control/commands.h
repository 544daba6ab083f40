/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands: orders on their way to sensors. In: an order and its sensor, from a client of the
 * control socket (control.c) or from a group (groups.c). Out: the ORDER in the sensor's session,
 * each second until its ANSWER; the answer to the caller. Always holds: a sensor has one order at a
 * time, and orders are sent in the sequence of commands_add().
 */
#ifndef COLLECTOR_CONTROL_COMMANDS_H
#define COLLECTOR_CONTROL_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/network/network.h"
#include "wire/order.h"

#define COMMANDS_REPEAT_NS 1000000000ULL
#define COMMANDS_AGAIN_NS 50000000ULL /* if the session has no room for it */

/* Results of an order, besides enum answer_status. */
enum { COMMANDS_UNHEARD = -1, COMMANDS_GIVEN_UP = -2, COMMANDS_UNSENT = -3 };

/* Called with the result. `status`: the sensor's answer or one of the above. `text`: its
 * explanation. */
typedef void commands_done(void *user, struct sensor *s, int status, const char *text);

struct commands_order {
	struct commands_order *next;
	struct sensor *sensor;
	commands_done *done; /* NULL: the order has ended or was cancelled */
	void *user;
	uint64_t number;   /* 0: not sent yet */
	uint64_t due_ns;   /* monotonic: when it is sent (again) */
	uint64_t until_ns; /* monotonic: when it is given up; 0: never */
	char text[];
};

struct commands {
	struct network *network;
	uint64_t number;  /* of the last order */
	uint64_t next_ns; /* monotonic: nothing is due before */
	struct commands_order *first, **end;
};

/* Sets `answered` of session_receive.h. */
void commands_init(struct commands *d, struct network *o);
void commands_free(struct commands *d);
/* Adds an order. `done` is called once, later than this call, unless the order is cancelled.
 * `until_ns`: when the order is given up (CLOCK_MONOTONIC); 0: never. Returns 0 or -ENOMEM. */
int commands_add(struct commands *d, struct sensor *s, const char *text, uint64_t until_ns,
		 commands_done *done, void *user);
/* Cancels all orders of this `user`: `done` is not called. */
void commands_cancel(struct commands *d, const void *user);
/* Sends the due orders. Returns milliseconds until the next call; -1: no order is left. */
int commands_tick(struct commands *d, uint64_t now_ns);
/* Takes an ANSWER: `answered` of session_receive.h. */
void commands_answered(void *user, struct sensor *s, uint64_t number, uint8_t status,
		       const uint8_t *text, size_t len);

#endif
