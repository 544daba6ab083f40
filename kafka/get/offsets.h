/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Offsets: messages that the collector has not acknowledged, and how far each partition is. In:
 * messages in each partition's order, and DONE. Out: the next message to send, and the offset that
 * may be committed: that of the partition's first message without DONE. Always holds: at most
 * OFFSETS_MESSAGES are kept, and after a new connection all without DONE come again in their order.
 * Nothing is known of librdkafka.
 */
#ifndef KAFKA_GET_OFFSETS_H
#define KAFKA_GET_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFFSETS_MESSAGES 65536
#define OFFSETS_RING (2 * OFFSETS_MESSAGES) /* librdkafka may have more when it is told to wait */
#define OFFSETS_BYTES (64ULL << 20)
#define OFFSETS_PARTITIONS 100000
#define OFFSETS_UNKNOWN (-1)

struct offsets_partition {
	bool assigned;
	uint64_t head, tail;   /* numbers of the messages without DONE; equal: none */
	unsigned int waiting;  /* messages without DONE */
	int64_t next;	       /* to commit; OFFSETS_UNKNOWN: nothing */
	int64_t committed;     /* the last one */
	int64_t position, end; /* the next to receive; the partition's end: for `lag` */
};

struct offsets_item {
	void *message; /* NULL: it has DONE */
	size_t bytes;
	int64_t offset;
	int32_t partition;
	uint64_t next; /* number of the partition's next one */
};

struct offsets {
	struct offsets_item *items; /* a ring */
	uint64_t first, sent, end; /* numbers: the first kept, the next to send, the next to come */
	uint64_t bytes;		   /* of messages without DONE */
	uint64_t waiting;	   /* messages without DONE */
	struct offsets_partition *partitions;
	int32_t partition_count;
	void (*release)(void *message);
};

/* `release` frees a message. Returns 0 or -ENOMEM. */
int offsets_init(struct offsets *o, void (*release)(void *message));
/* Returns 0 or -ENOMEM. */
int offsets_assign(struct offsets *o, int32_t partition);
/* Forgets the partition: its messages are another member's now. Returns how many had no DONE. */
uint64_t offsets_revoke(struct offsets *o, int32_t partition);
/* NULL: not assigned. */
struct offsets_partition *offsets_find(struct offsets *o, int32_t partition);
/* Whether there is no room for one more message. */
bool offsets_is_full(const struct offsets *o);
/* Takes a message of an assigned partition. If `pass`, it is not sent, and has DONE already. */
void offsets_add(struct offsets *o, int32_t partition, int64_t offset, void *message, size_t bytes,
		 bool pass);
/* Returns the next message to send, with its number, or NULL. */
const struct offsets_item *offsets_peek(struct offsets *o, uint64_t *number);
/* It is sent. */
void offsets_sent(struct offsets *o);
/* From this one on, the messages are not sent. */
void offsets_back(struct offsets *o, uint64_t number);
/* Returns 0, or -ENOENT if the message has DONE already, or was never sent. */
int offsets_done(struct offsets *o, uint64_t number);
/* A new connection: all come again. */
void offsets_rewind(struct offsets *o);
void offsets_free(struct offsets *o);

#endif
