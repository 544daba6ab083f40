/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Topics: what the brokers have, and what is wrong with it. In: brokers' answers. Out: lines for
 * people. Always holds: nothing here makes a broker create a topic, but for topics_create().
 */
#ifndef KAFKA_TOPICS_TOPICS_H
#define KAFKA_TOPICS_TOPICS_H

#include <stdbool.h>

#include "kafka/client/client.h"
#include "kafka/options/options.h"
#include "kafka/client/signals.h"
#include "wire/put.h"

#define TOPICS_NAME_MAX 256
#define TOPICS_WHY_MAX 600
/* The largest message and what a batch has around it. */
#define TOPICS_BYTES_MIN 131072

struct topic {
	char name[TOPICS_NAME_MAX];
	enum topic_have {
		TOPIC_MISSING,
		TOPIC_HIDDEN,
		TOPIC_FOUND
	} have; /* hidden: not authorised */
	int partitions;
	int replicas; /* of the partition that has the fewest */
	/* Settings; -1, or "": unknown */
	long min_insync, max_bytes, segment_bytes;
	long long retention_ms, oldest_ms; /* of messages; how old a new one may be */
	char cleanup[32], compression[32];
};

struct topics {
	struct topic list[PUT_TOPICS];
};

void topics_init(struct topics *t, const char *prefix);
/* Asks the brokers. Returns 0, or -errno with the reason in `why`: -EAGAIN: no answer, or the user
 * wants to stop. */
int topics_read(struct topics *t, struct client *c, struct signals *s, char why[TOPICS_WHY_MAX]);
/* Returns whether messages may be put into the topics, else with the first reason in `why`. */
bool topics_are_fit(const struct topics *t, bool allow_weak, char why[TOPICS_WHY_MAX]);
/* The same of one topic that is there. */
bool topic_is_fit(const struct topic *t, bool allow_weak, char why[TOPICS_WHY_MAX]);
/* What should be different, but forbids nothing; NULL: nothing. */
const char *topic_advice(const struct topic *t, enum put_topic which);
/* How old a message may be, so that the topic takes it, and keeps it for as long again. */
uint64_t topic_age_ms(const struct topic *t);
/* The largest batch that all topics take, at most `most`. */
long topics_batch_bytes(const struct topics *t, long most);
/* Creates the missing ones. Returns 0, or -errno after a line. */
int topics_create(const struct topics *t, struct client *c, struct signals *s,
		  const struct kafka_options *o);

#endif
