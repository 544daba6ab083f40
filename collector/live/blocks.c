// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks: see blocks.h. Always holds: all offsets are in the current half. When the half is full,
 * the current section's blocks move to the other half, and earlier sections' blocks are dropped.
 */
#include "blocks.h"

#include <stdlib.h>
#include <string.h>

/* Most bytes of moved blocks, so that a quarter stays free for further blocks. */
#define MOVED_MAX (LIVE_HALF / 4 * 3)

static uint8_t *half(const struct live *l, uint32_t generation)
{
	return (uint8_t *)l->table + LIVE_HALVES + (size_t)(generation % 2) * LIVE_HALF;
}

static uint32_t length_at(const uint8_t *block)
{
	uint32_t len;

	memcpy(&len, block + 4, 4);
	return len;
}

void blocks_section(struct live *l, unsigned int section)
{
	if (l->section == section)
		return;
	l->section = section;
	l->count = l->hidden = 0;
}

static uint32_t put(struct live *l, const uint8_t *block, uint32_t len)
{
	uint32_t at = l->used;

	memcpy(half(l, l->generation) + at, block, len);
	l->used += len;
	return at;
}

/* Moves a block. Returns its new offset, or NO_BLOCK. */
static uint32_t move(struct live *l, const uint8_t *block)
{
	uint32_t len = length_at(block);

	if (l->used + len <= MOVED_MAX)
		return put(l, block, len);
	l->hidden++;
	return NO_BLOCK;
}

static void turn_over(struct live *l)
{
	const uint8_t *old = half(l, l->generation);

	l->used = 0;
	__atomic_store_n(&l->table->generation, ++l->generation, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* store the generation before bytes change */
	for (uint32_t i = 0; i < l->count && i < l->room; i++)
		if (l->blocks[i] != NO_BLOCK)
			l->blocks[i] = move(l, old + l->blocks[i]);
}

static void make_room(struct live *l)
{
	uint32_t room = l->room ? 2 * l->room : 64;
	uint32_t *more = realloc(l->blocks, room * sizeof(*more));

	if (!more)
		return;
	l->blocks = more;
	l->room = room;
}

void blocks_add(struct live *l, const uint8_t *block, uint32_t len)
{
	bool fits = len <= LIVE_BLOCK_MAX;

	if (l->count >= l->room)
		make_room(l);
	fits = fits && l->count < l->room; /* else there is no memory for its number */
	if (l->used + len > LIVE_HALF)
		turn_over(l);
	if (l->count < l->room)
		l->blocks[l->count] = fits ? put(l, block, len) : NO_BLOCK;
	l->hidden += !fits;
	l->count++;
}

uint32_t blocks_find(const struct live *l, uint32_t interface)
{
	return interface < l->count && interface < l->room ? l->blocks[interface] : NO_BLOCK;
}
