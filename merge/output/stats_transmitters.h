/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transmitters: how many frames each address has sent. Anyone can invent addresses, so the table is
 * bounded: when it is full, the addresses with the fewest frames are forgotten, and counted.
 */
#ifndef MERGE_OUTPUT_STATS_TRANSMITTERS_H
#define MERGE_OUTPUT_STATS_TRANSMITTERS_H

#include <stdint.h>

#define TRANSMITTERS_MAX 65536

struct transmitter {
	uint64_t address; /* 48 bits; 0: free */
	uint64_t frames;
	uint32_t place; /* among the busiest, from 1; 0: it is not */
};

struct transmitters {
	struct transmitter *slots; /* twice TRANSMITTERS_MAX, by hash */
	uint32_t count;
	uint64_t forgotten;
	uint64_t secret; /* against addresses that are chosen to collide */
};

/* Returns 0 or -ENOMEM. */
int transmitters_init(struct transmitters *t);
void transmitters_free(struct transmitters *t);
void transmitters_count(struct transmitters *t, uint64_t address);
/* Returns NULL if the table does not have it. */
const struct transmitter *transmitters_find(const struct transmitters *t, uint64_t address);
/* Gives the busiest `most` their places, and writes their addresses by place - 1. Returns how many
 * there are. */
uint32_t transmitters_rank(struct transmitters *t, uint64_t *addresses, uint32_t most);

#endif
