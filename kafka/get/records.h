/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records: the last value of each key in PREFIX.sensors (wire/put.h), and which of them the
 * collector must be sent. In: keys and values, in the topic's order. Out: the next one to send.
 * Always holds: at most RECORDS_MAX keys and RECORDS_BYTES are kept; nothing is known of
 * librdkafka.
 */
#ifndef KAFKA_GET_RECORDS_H
#define KAFKA_GET_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/put.h"

#define RECORDS_MAX 200000
#define RECORDS_BYTES (256ULL << 20)

struct record {
	uint8_t key[PUT_KEY_MAX];
	uint8_t key_len;
	bool queued;
	uint32_t next;	 /* in the hash's chain; RECORDS_NONE: the last */
	uint32_t follow; /* in the queue */
	uint64_t time_ms;
	uint8_t *value;
	uint32_t value_len; /* 0: the record was deleted */
};

#define RECORDS_NONE UINT32_MAX

struct records {
	struct record *list;
	uint32_t count, size;
	uint32_t *heads; /* of the hash's chains */
	uint64_t bytes;
	uint64_t over;	      /* records without room */
	uint32_t first, last; /* of the queue */
};

/* Returns 0 or -ENOMEM. */
int records_init(struct records *r);
/* Keeps and queues a record. Returns 0, or -ENOSPC: it is counted in `over`. */
int records_put(struct records *r, const void *key, size_t key_len, const void *value,
		size_t value_len, uint64_t time_ms);
/* Whether there is a value. */
bool records_has(const struct records *r, const void *key, size_t key_len);
/* Queues all, for a new connection. */
void records_rewind(struct records *r);
/* Returns the next one to send, or NULL. */
const struct record *records_peek(const struct records *r);
/* It is sent. */
void records_sent(struct records *r);
void records_free(struct records *r);

#endif
