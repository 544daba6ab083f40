/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Table: maps addresses to their owners. A receiver has one hash table: at the collector for slots
 * and data of all sensors, at a sensor for one session. Addresses are random to anyone without the
 * keys, so they serve as hashes. Open addressing, linear probing, no tombstones. Two entries may
 * have the same address, and both are found.
 */
#ifndef WIRE_TABLE_H
#define WIRE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* 16 bytes, four to a cache line. */
struct table_entry {
	uint64_t address; /* as load_word() reads it; 0 is a valid address */
	uint32_t owner;	  /* the user's number of the owner, 0: free entry */
	uint32_t low;	  /* low bits of the datagram's number, or owner's data */
};

struct table {
	struct table_entry *entries;
	uint64_t size; /* number of entries */
	uint64_t used;
	uint64_t added; /* addresses so far */
};

/* Makes room for at least `expected` addresses, and grows later if needed. Returns 0 or -ENOMEM. */
int table_init(struct table *t, uint64_t expected);
void table_free(struct table *t);
/* Returns 0, or -ENOMEM if the table cannot grow; after -ENOMEM the table is as before. Pointers to
 * entries that were found before become invalid. */
int table_add(struct table *t, uint64_t address, uint32_t owner, uint32_t low);
/* Removes the entry with this address, owner and low, if it exists. */
void table_remove(struct table *t, uint64_t address, uint32_t owner, uint32_t low);
/* Returns the first entry with this address, or the one after `after`, or NULL. */
const struct table_entry *table_find(const struct table *t, uint64_t address,
				     const struct table_entry *after);
/* Prefetches an address's entry, for a table_find soon. */
void table_prefetch(const struct table *t, uint64_t address);

#endif
