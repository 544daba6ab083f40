/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Done: numbers of messages that were taken, until the peer has its DONE. In: numbers, the output's
 * writes. Out: DONE messages. Always holds: a number is sent only after the file has what its
 * message brought, or after the message brought nothing; in the order of the messages. The loop
 * never waits for the peer.
 */
#ifndef COLLECTOR_SOURCE_DONE_H
#define COLLECTOR_SOURCE_DONE_H

#include <stdbool.h>
#include <stdint.h>

#define DONE_MAX 65536

struct output;
struct sensor;

struct done_entry {
	uint64_t number;
	const struct sensor *sensor; /* NULL: nothing of it waits */
	uint64_t writes;	     /* the output's writes when it was taken */
};

struct done {
	struct done_entry *list; /* DONE_MAX, from `first` on, around the end */
	unsigned int first, count;
	uint64_t sent; /* numbers so far */
};

int done_init(struct done *d); /* returns 0 or -ENOMEM */
void done_free(struct done *d);
/* Forgets all numbers: the connection has ended. */
void done_forget(struct done *d);
bool done_full(const struct done *d);
/* Notes a taken message. `s`: the sensor whose combo it had. */
void done_add(struct done *d, uint64_t number, const struct sensor *s, const struct output *out);
/* Sends the numbers that are due. Returns 0; -EAGAIN: the socket is full; or -errno. */
int done_send(struct done *d, int sock, const struct output *out);

#endif
