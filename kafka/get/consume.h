/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Consume: reads PREFIX.combos as a member of a group. In: the brokers' messages. Out: holds and
 * offsets, and commits. Always holds: only an offset before which all messages have DONE, or are
 * strangers', is committed; the brokers are asked often enough, also while nothing has room.
 */
#ifndef KAFKA_GET_CONSUME_H
#define KAFKA_GET_CONSUME_H

#include "kafka/client/client.h"
#include "holds.h"
#include "kafka/options/options.h"
#include "strangers.h"
#include "kafka/client/topic_error.h"

/* received = done + rejected + passed + newer + returned + in flight */
struct consume_counts {
	uint64_t received, done;
	uint64_t rejected; /* REFUSED by the collector */
	uint64_t passed;   /* strangers' */
	uint64_t newer;	   /* of a later version */
	uint64_t returned; /* another member reads them again */
};

struct consume {
	struct client client;
	struct brokers brokers;
	const char *topic;
	struct offsets *offsets;
	struct holds *holds;
	struct strangers *strangers;
	struct consume_counts counts;
	/* Partitions are revoked: the collector may still send DONE. */
	void (*settle)(void *owner, const rd_kafka_topic_partition_list_t *revoked);
	/* A combo waits for its record. Returns the ticket. */
	uint64_t (*ticket)(void *owner);
	void *owner;
	uint32_t moves; /* how often partitions came or went */
	bool divided;	/* the group has divided the partitions */
	bool paused, closing;
	bool more;			  /* librdkafka has more messages */
	bool committing;		  /* the last commit has no answer yet */
	rd_kafka_resp_err_t commit_error; /* of the last commit, so that it is logged once */
	bool late;		   /* the log has said that a message is of a later version */
	uint64_t full_ns;	   /* since when there is no room; 0: there is */
	int32_t assigned;	   /* partitions */
	char why[TOPIC_ERROR_MAX]; /* the brokers refuse something; "": nothing */
};

/* The other fields are set. Returns 0, or -errno after a line. */
int consume_open(struct consume *c, const struct kafka_config *config,
		 const struct kafka_options *o);
/* Takes what has come, as far as there is room. Returns 0, or -EIO after a line: it cannot go on.
 */
int consume_serve(struct consume *c, uint64_t now_ns);
/* Commits what has changed; with `ms`, waits so long for the answer. */
void consume_commit(struct consume *c, int ms);
/* Messages in the partitions that were not received yet; -1: that is not known yet. */
int64_t consume_lag(struct consume *c);
/* Messages without DONE. */
uint64_t consume_in_flight(const struct consume *c);
/* Leaves the group; a static member's partitions wait for it. */
void consume_close(struct consume *c);

#endif
