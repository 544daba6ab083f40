/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Source: takes combos from saluki-kafka, in place of the network (--source). In: connections to
 * the socket, one at a time (wire/put.h). The path of a message:
 *
 *     source.c                  reads the socket
 *     take.c                    finds out whether it is new
 *       records.c, roster.c       know the sensors
 *       run.c                     changes the sensor's run
 *       late.c                    knows the gaps
 *     combo/split.h             splits the combo
 *     done.c                    sends DONE, when the file has it
 *
 * Always holds: while a message waits for the disk, the socket is not read.
 */
#ifndef COLLECTOR_SOURCE_SOURCE_H
#define COLLECTOR_SOURCE_SOURCE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "take.h"
#include "wire/put.h"

#define SOURCE_FDS 2
#define SOURCE_TEXT_MAX 256

/* What saluki-kafka last said of itself (STATE). Empty texts: nothing. */
struct source_state {
	char why[SOURCE_TEXT_MAX]; /* why nothing comes at present */
	char topic[SOURCE_TEXT_MAX], brokers[SOURCE_TEXT_MAX];
	uint64_t lag;	/* messages that are still in the topic */
	uint64_t moves; /* of partitions to and from this reader */
};

struct source {
	int listener;	    /* -1: none */
	int sock;	    /* the connection; -1: none */
	uint64_t begun_ns;  /* monotonic: of the connection */
	bool greeted;	    /* its HELLO came */
	bool refused;	    /* a HELLO was refused, and that was logged */
	bool busy;	    /* a further connection was refused, and that was logged */
	bool blocked;	    /* the socket has no room for DONE */
	bool waits;	    /* `put` waits for the disk */
	uint64_t looked_ns; /* monotonic: sensors were last shown to viewers */
	uint64_t messages;  /* PUTs, without those whose connection ended while they waited */
	uint64_t strange;   /* messages of unknown types */
	struct source_state state;
	struct take take;
	struct put put;		      /* in `message` */
	uint8_t message[PUT_MAX + 1]; /* one more, to see that a message is too long */
};

/* `listener`: source_listen's. Returns 0 or -ENOMEM. */
int source_init(struct source *s, int listener, struct combos *c);
void source_free(struct source *s);
/* Sets what to poll. */
void source_polled(const struct source *s, struct pollfd p[SOURCE_FDS]);
/* Reads messages. Returns whether there may be more. */
bool source_serve(struct source *s, const struct pollfd p[SOURCE_FDS], uint64_t now_ns);
/* Takes the message that waits, and sends DONE. Call it after output_tick. Returns milliseconds
 * until it must be called again; -1: no time. */
int source_tick(struct source *s, uint64_t now_ns);
/* Sends the last DONE, after output_finish. */
void source_finish(struct source *s);
/* Prints a line for the report. */
void source_print(const struct source *s, FILE *out);

#endif
