/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Holds: a combo waits here until the record that it names is known, and all later messages of its
 * partition wait behind it. In: messages in each partition's order. Out: the same to offsets.h.
 * Always holds: nobody waits for ever: a combo goes on without its record once all is read that was
 * in PREFIX.sensors after the combo came. Nothing is known of librdkafka.
 */
#ifndef KAFKA_GET_HOLDS_H
#define KAFKA_GET_HOLDS_H

#include "offsets.h"
#include "records.h"

/* NAME/HASH */
#define HOLDS_KEY_MAX (PUT_KEY_MAX + 18)

struct hold {
	struct hold *next;
	void *message;
	size_t bytes;
	int64_t offset;
	int32_t partition;
	uint64_t ticket; /* goes on when this one is reached */
	bool pass;
	uint8_t key_len; /* 0: names no record */
	char key[HOLDS_KEY_MAX];
};

struct holds {
	struct offsets *offsets;
	const struct records *records;
	struct hold **heads, **tails; /* of each partition */
	int32_t partition_count;
	uint64_t count, bytes; /* held now */
	uint64_t passing;      /* of these, messages that are passed over */
	uint64_t unknown;      /* went on without their record */
	uint64_t wanted;       /* the last ticket that a hold waits for */
};

void holds_init(struct holds *h, struct offsets *offsets, const struct records *records);
/* Takes a message of an assigned partition. `key`: of its record, NULL: none. `ticket`: that of the
 * next reading of PREFIX.sensors. Returns 0 or -ENOMEM, and the message stays the caller's. */
int holds_take(struct holds *h, const struct hold *m, uint64_t ticket);
/* Lets go on what may, after new records, or when `reached` is a new ticket. */
void holds_release(struct holds *h, uint64_t reached);
/* Forgets a partition's. Returns how many there were that are not passed over. */
uint64_t holds_revoke(struct holds *h, int32_t partition);
/* Whether there is no room for one more message, with those in `offsets`. */
bool holds_are_full(const struct holds *h);
void holds_free(struct holds *h);

#endif
