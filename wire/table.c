// SPDX-License-Identifier: GPL-2.0
/*
 * Table: see table.h. Linear probing. The address's high bits choose the entry, so any size works
 * (Lemire, "Fast random integer generation in an interval", 2019). Removal moves later entries of
 * the run back (Knuth, The Art of Computer Programming, vol. 3, 6.4, algorithm R).
 */
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* At three quarters full a lookup reads 2.5 entries on average, or 8.5 if it finds none. */
#define FULL_NUMERATOR 3
#define FULL_DENOMINATOR 4
#define SIZE_MIN 64
#define HUGE_PAGE (2 * 1024 * 1024)

static uint64_t place(const struct table *t, uint64_t address)
{
#ifdef __SIZEOF_INT128__
	return (uint64_t)((unsigned __int128)address * t->size >> 64);
#else
	/* On a 32-bit machine a table has less than 2^32 entries. */
	return (uint64_t)(uint32_t)(address >> 32) * (uint32_t)t->size >> 32;
#endif
}

static uint64_t behind(const struct table *t, uint64_t i)
{
	return i + 1 < t->size ? i + 1 : 0;
}

/* With pages of 4 KiB, a lookup in hundreds of megabytes also misses the TLB. Asks for huge pages
 * before the memory is used. If the kernel refuses, lookups are slower. */
static void ask_huge_pages(void *memory, size_t len)
{
	uintptr_t from = ((uintptr_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	uintptr_t end = ((uintptr_t)memory + len) / HUGE_PAGE * HUGE_PAGE;

	if (end > from)
		madvise((void *)from, end - from, MADV_HUGEPAGE);
}

int table_init(struct table *t, uint64_t expected)
{
	memset(t, 0, sizeof(*t));
	t->size = expected / FULL_NUMERATOR * FULL_DENOMINATOR + FULL_DENOMINATOR;
	if (t->size < SIZE_MIN)
		t->size = SIZE_MIN;
	t->entries = calloc(t->size, sizeof(*t->entries));
	if (!t->entries)
		return -ENOMEM;
	ask_huge_pages(t->entries, t->size * sizeof(*t->entries));
	return 0;
}

void table_free(struct table *t)
{
	free(t->entries);
	memset(t, 0, sizeof(*t));
}

static void put(struct table *t, const struct table_entry *e)
{
	uint64_t i = place(t, e->address);

	while (t->entries[i].owner)
		i = behind(t, i);
	t->entries[i] = *e;
	t->used++;
}

static int grow(struct table *t)
{
	struct table larger;

	if (table_init(&larger, t->used * 2))
		return -ENOMEM;
	for (uint64_t i = 0; i < t->size; i++)
		if (t->entries[i].owner)
			put(&larger, &t->entries[i]);
	larger.added = t->added;
	free(t->entries);
	*t = larger;
	return 0;
}

int table_add(struct table *t, uint64_t address, uint32_t owner, uint32_t low)
{
	struct table_entry e = { .address = address, .owner = owner, .low = low };

	if (t->used + 1 > t->size / FULL_DENOMINATOR * FULL_NUMERATOR && grow(t))
		return -ENOMEM;
	put(t, &e);
	t->added++;
	return 0;
}

/* Whether the entry at `from`, whose address hashes to `home`, may move to the free entry `to`:
 * `home` is not after `to`. */
static int may_move(uint64_t home, uint64_t to, uint64_t from)
{
	return to <= from ? home <= to || home > from : home <= to && home > from;
}

static void take_out(struct table *t, uint64_t hole)
{
	uint64_t i = hole;

	t->entries[hole].owner = 0;
	t->used--;
	for (;;) {
		i = behind(t, i);
		if (!t->entries[i].owner)
			return;
		if (!may_move(place(t, t->entries[i].address), hole, i))
			continue;
		t->entries[hole] = t->entries[i];
		t->entries[i].owner = 0;
		hole = i;
	}
}

void table_remove(struct table *t, uint64_t address, uint32_t owner, uint32_t low)
{
	for (uint64_t i = place(t, address); t->entries[i].owner; i = behind(t, i)) {
		struct table_entry *e = &t->entries[i];

		if (e->address == address && e->owner == owner && e->low == low) {
			take_out(t, i);
			return;
		}
	}
}

const struct table_entry *table_find(const struct table *t, uint64_t address,
				     const struct table_entry *after)
{
	uint64_t i = after ? behind(t, after - t->entries) : place(t, address);

	for (; t->entries[i].owner; i = behind(t, i))
		if (t->entries[i].address == address)
			return &t->entries[i];
	return NULL;
}

void table_prefetch(const struct table *t, uint64_t address)
{
	const struct table_entry *e = &t->entries[place(t, address)];

	__builtin_prefetch(e);
	__builtin_prefetch(e + 3);
}
