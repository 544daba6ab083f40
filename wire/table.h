/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Table: which address is whose. One hash table for all of a receiver: slots and data of all
 * sensors at the collector, of one session at a sensor. Addresses are random to whoever does not
 * have the keys, so they are their own hash. Open addressing, linear probing, no tombstones; two
 * entries may have the same address, and both are found.
 */
#ifndef WIRE_TABLE_H
#define WIRE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* 16 bytes, four to a cache line. */
struct table_entry {
	uint64_t address; /* as load_word() reads it; 0 is an address like any other */
	uint32_t owner;	  /* the user's number for whose it is, 0: the entry is free */
	uint32_t low;	  /* low bits of the datagram's number, or what else the owner wants */
};

struct table {
	struct table_entry *entries;
	uint64_t size; /* entries there is room for */
	uint64_t used;
};

/* Room for `expected` addresses at least; grows where more come. Returns 0 or -ENOMEM. */
int table_init(struct table *t, uint64_t expected);
void table_free(struct table *t);
/* Returns 0, or -ENOMEM where it would have to grow and cannot: then nothing has changed. Entries
 * that were found before are not valid any more. */
int table_add(struct table *t, uint64_t address, uint32_t owner, uint32_t low);
/* Removes the one with this address, owner and low, where it is there. */
void table_remove(struct table *t, uint64_t address, uint32_t owner, uint32_t low);
/* The first entry with this address, or the one behind `after`; NULL where there is none. */
const struct table_entry *table_find(const struct table *t, uint64_t address,
				     const struct table_entry *after);
/* Brings the place of an address into the cache, for a table_find soon. */
void table_prefetch(const struct table *t, uint64_t address);

#endif
