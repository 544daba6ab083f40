/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connection: the socket to `saluki-kafka put`. In: the window's messages. Out: DONE, REFUSED and
 * STATE, by callbacks. It never waits for the other end. One saluki-kafka is connected at a time; a
 * second one waits in the listener's queue.
 */
#ifndef COLLECTOR_SINK_CONNECTION_H
#define COLLECTOR_SINK_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/put.h"

struct window;

struct connection {
	int listener;		 /* -1: none */
	int sock;		 /* -1: nobody is connected */
	bool greeted;		 /* its HELLO came */
	uint64_t begun_ns;	 /* monotonic: of the connection */
	uint64_t told_ns;	 /* monotonic: the log said that it came or went; 0: never */
	bool wants_out;		 /* the socket was full */
	bool logged;		 /* that a program was turned away */
	uint32_t greetings;	 /* connections of saluki-kafka so far */
	char why[PUT_TEXT_MAX];	 /* the last STATE's `why`; "": all is well */
	char said[PUT_TEXT_MAX]; /* what the log has last said of it */
	uint64_t bad_ns;	 /* monotonic: of the last STATE with a `why` */
	char topic[256], brokers[256];
};

struct connection_user {
	void *arg;
	void (*done)(void *arg, uint64_t number, const char *refused); /* NULL: it is done */
};

/* Takes a connection, sends what is unsent, and takes answers. */
void connection_serve(struct connection *c, struct window *w, const struct connection_user *u);
/* Returns milliseconds until connection_serve() must be called again; -1: no time. */
int connection_timeout(const struct connection *c);
/* Returns the descriptor to poll, and its events. */
int connection_polled(const struct connection *c, const struct window *w, short *events);
void connection_close(struct connection *c);

#endif
