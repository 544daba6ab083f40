/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Client: an instance of librdkafka whose events come by a descriptor, so that one loop waits for
 * them and for the collector. In: a configuration. Always holds: librdkafka calls back only from
 * client_serve(), but for its log and the state of connections.
 */
#ifndef KAFKA_CLIENT_CLIENT_H
#define KAFKA_CLIENT_CLIENT_H

#include <stdbool.h>

#include "brokers.h"
#include "kafka_config.h"

struct client {
	rd_kafka_t *rk;		 /* NULL: closed */
	rd_kafka_queue_t *queue; /* its events */
	int fd;			 /* readable if there are events */
	struct brokers *brokers;
	void *owner; /* for the callbacks of a stage */
	bool fatal;  /* it must be closed; rd_kafka_fatal_error() has the reason */
};

#define CLIENT_CLOSED                                                                              \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Takes `conf`, which may have callbacks; their opaque is the client. Returns 0, or -EINVAL after a
 * line. */
int client_open(struct client *c, rd_kafka_type_t type, rd_kafka_conf_t *conf,
		struct brokers *brokers);
/* Consumers: messages come by the queue too. */
void client_consume(struct client *c);
/* For an owner that polls by itself: before it does, and if it leaves something in the queue. */
void client_clear(struct client *c);
void client_wake(struct client *c);
/* Calls back for all events that have come. */
void client_serve(struct client *c);
/* Whether the error is that of a batch that can never be read. */
bool client_unreadable(const rd_kafka_message_t *m);
/* Continues the error's partition at this offset. */
void client_pass_over(const rd_kafka_message_t *m, int64_t next);
/* Waits for librdkafka's threads at most for some seconds. */
void client_close(struct client *c);
/* The program ends: returns `status`, or ends at once if threads of librdkafka remain, which must
 * not run while the libraries are unloaded. */
int client_exit(int status);

#endif
