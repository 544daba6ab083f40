/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Watermarks: where the partitions of a topic ended at some time, and whether a reader has come so
 * far. In: questions, each with the next ticket. Out: the last ticket that is reached. A thread
 * asks the brokers, because librdkafka's question waits for their answer.
 */
#ifndef KAFKA_GET_WATERMARKS_H
#define KAFKA_GET_WATERMARKS_H

#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct watermarks {
	rd_kafka_t *rk;
	const char *topic;
	int32_t partitions;
	int64_t *ends;	    /* the thread's answer; of each partition */
	int64_t *positions; /* the reader's */
	int fd;		    /* readable after an answer */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool started, stop;
	bool grown; /* the topic has more partitions now, and no question has an answer */
	uint64_t asked, begun, answered; /* tickets */
	rd_kafka_resp_err_t error;	 /* of the last question */
};

/* Starts the thread. Returns 0 or -errno. */
int watermarks_start(struct watermarks *w, rd_kafka_t *rk, const char *topic, int32_t partitions);
/* Returns the ticket of a question that is not yet asked; watermarks_ask() asks it. */
uint64_t watermarks_next(struct watermarks *w);
void watermarks_ask(struct watermarks *w, uint64_t ticket);
/* Whether a question found more partitions. */
bool watermarks_grown(struct watermarks *w);
/* The reader has come to this offset. */
void watermarks_move(struct watermarks *w, int32_t partition, int64_t offset);
/* The reader cannot read its position, which may be behind this offset. Returns the next one. */
int64_t watermarks_skip(struct watermarks *w, int32_t partition, int64_t offset);
/* Returns the last ticket whose ends the reader has reached. */
uint64_t watermarks_reached(struct watermarks *w);
/* Returns why the last question has no answer; 0: it has one. */
rd_kafka_resp_err_t watermarks_error(struct watermarks *w);
/* Ends the thread, after its question. */
void watermarks_stop(struct watermarks *w);

#endif
