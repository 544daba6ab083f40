/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers: what the collector is told of its messages, DONE many at a time, and REFUSED. In:
 * numbers. Out: packets, once the collector's socket takes them. Nothing is known of librdkafka.
 */
#ifndef KAFKA_PUT_ANSWERS_H
#define KAFKA_PUT_ANSWERS_H

#include "kafka/link/collector.h"

#define ANSWERS_REASON_MAX 200

struct answers {
	uint64_t *done; /* numbers that wait; a ring */
	size_t first, count, size;
	struct refusal {
		uint64_t number;
		char reason[ANSWERS_REASON_MAX];
	} * refused;
	size_t refused_count, refused_size;
};

/* Return 0 or -ENOMEM. */
int answers_done(struct answers *a, uint64_t number);
int answers_refuse(struct answers *a, uint64_t number, const char *reason);
/* Returns 0: all are sent, -EAGAIN: some wait, or -errno. */
int answers_send(struct answers *a, struct collector *c);
/* The connection has ended: nobody waits for them. */
void answers_forget(struct answers *a);
void answers_free(struct answers *a);

#endif
