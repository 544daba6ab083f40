/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Produce: puts messages into the topics. In: the collector's PUTs. Out: answers. Always holds:
 * DONE is said only of what all brokers that must have it have acknowledged, and REFUSED only of
 * what they will never take. All else has no answer, so the collector sends it again; `trouble`
 * then says why this producer must be closed.
 */
#ifndef KAFKA_PUT_PRODUCE_H
#define KAFKA_PUT_PRODUCE_H

#include "answers.h"
#include "kafka/client/client.h"
#include "kafka/topics/topics.h"

/* taken = delivered + refused + returned + in flight */
struct produce_counts {
	uint64_t taken, delivered, refused;
	uint64_t returned; /* without an answer: the collector sends it again */
	uint64_t delivered_bytes;
};

struct produce {
	struct client client;
	rd_kafka_topic_t *topics[PUT_TOPICS];
	const struct topics *known;
	struct answers *answers;
	struct produce_counts counts; /* of all producers that follow one another */
	uint64_t in_flight, in_flight_bytes;
	bool alone;	      /* a batch has one message: the brokers refuse whole batches */
	uint64_t alone_until; /* this many have been taken */
	char trouble[TOPICS_WHY_MAX]; /* "": none */
};

/* Returns 0, or -errno after a line. `answers` is empty. */
int produce_open(struct produce *p, const struct kafka_config *config, struct brokers *brokers,
		 const struct topics *topics, struct answers *answers);
/* Takes a message, whose bytes are copied. */
void produce_take(struct produce *p, const struct put *m);
/* Whether it has no room for more. */
bool produce_is_full(const struct produce *p);
/* Takes what the brokers have answered. */
void produce_serve(struct produce *p);
/* What is in flight is returned. */
void produce_close(struct produce *p);

#endif
