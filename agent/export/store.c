// SPDX-License-Identifier: GPL-2.0
/*
 * Store: see store.h. Always holds: a block is in one combo's chain, in the free chain, or was
 * never used (`fresh` and above). A combo's description is at the beginning of its first block, so
 * a combo needs only 4 more bytes, in the index.
 */
#include "store.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* The bytes of a combo in its first block. */
#define FIRST_ROOM (STORE_BLOCK - sizeof(struct store_combo))

_Static_assert(sizeof(struct store_combo) % 8 == 0 && sizeof(struct store_combo) < STORE_BLOCK / 8,
	       "bytes begin behind it");

int store_init(struct store *s, size_t bytes)
{
	size_t each = STORE_BLOCK + 2 * sizeof(uint32_t);
	void *p;

	memset(s, 0, sizeof(*s));
	if (bytes < STORE_BYTES_MIN)
		bytes = STORE_BYTES_MIN;
	s->blocks = bytes / each < UINT32_MAX ? bytes / each : UINT32_MAX - 1;
	s->mapped_len = s->blocks * each;
	p = mmap(NULL, s->mapped_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		memset(s, 0, sizeof(*s));
		return -ENOMEM;
	}
	/* Before the blocks, so that the blocks used first are in the same page. */
	s->next = p;
	s->index = s->next + s->blocks;
	s->memory = (uint8_t *)(s->index + s->blocks);
	s->free_count = s->free_block = s->blocks;
	return 0;
}

void store_free(struct store *s)
{
	if (s->next)
		munmap(s->next, s->mapped_len);
	memset(s, 0, sizeof(*s));
}

void store_start(struct store *s, uint64_t count)
{
	store_settle(s, s->end);
	s->lowest = s->end = count;
}

static uint8_t *block_at(const struct store *s, uint32_t block)
{
	return s->memory + (size_t)block * STORE_BLOCK;
}

static struct store_combo *combo_at(const struct store *s, uint64_t count)
{
	return (struct store_combo *)block_at(s, s->index[count % s->blocks]);
}

static uint32_t blocks_of(size_t len)
{
	size_t rest = len > FIRST_ROOM ? len - FIRST_ROOM : 0;

	return 1 + (rest + STORE_BLOCK - 1) / STORE_BLOCK;
}

/* There is one. */
static uint32_t block_take(struct store *s)
{
	uint32_t block = s->free_block;

	__atomic_store_n(&s->free_count, s->free_count - 1, __ATOMIC_RELAXED);
	if (block == s->blocks)
		return s->fresh++;
	s->free_block = s->next[block];
	return block;
}

/* The last block is freed first, so that the combo's first block is used next. */
static void blocks_give(struct store *s, uint32_t block, uint32_t n)
{
	uint32_t last = block;

	__atomic_store_n(&s->free_count, s->free_count + n, __ATOMIC_RELAXED);
	for (uint32_t i = 1; i < n; i++)
		last = s->next[last];
	s->next[last] = s->free_block;
	s->free_block = block;
}

struct store_combo *store_put(struct store *s, const uint8_t *wire, size_t len)
{
	uint32_t n = blocks_of(len), block;
	struct store_combo *c;
	size_t part = len < FIRST_ROOM ? len : FIRST_ROOM;

	if (n > s->free_count)
		return NULL;
	block = block_take(s);
	c = (struct store_combo *)block_at(s, block);
	memset(c, 0, sizeof(*c));
	c->block = block;
	c->len = len;
	memcpy(c + 1, wire, part);
	for (size_t at = part; at < len; at += part) {
		s->next[block] = block_take(s);
		block = s->next[block];
		part = len - at < STORE_BLOCK ? len - at : STORE_BLOCK;
		memcpy(block_at(s, block), wire + at, part);
	}
	s->index[s->end++ % s->blocks] = c->block;
	return c;
}

struct store_combo *store_get(const struct store *s, uint64_t count)
{
	return count >= s->lowest && count < s->end ? combo_at(s, count) : NULL;
}

void store_read(const struct store *s, const struct store_combo *c, size_t offset, size_t len,
		uint8_t *out)
{
	size_t at = offset + sizeof(*c); /* counted from the first block's beginning */
	uint32_t block = c->block;

	for (; at >= STORE_BLOCK; at -= STORE_BLOCK)
		block = s->next[block];
	while (len) {
		size_t part = len < STORE_BLOCK - at ? len : STORE_BLOCK - at;

		memcpy(out, block_at(s, block) + at, part);
		out += part;
		len -= part;
		at = 0;
		if (len)
			block = s->next[block];
	}
}

void store_drop_newest(struct store *s)
{
	const struct store_combo *c = combo_at(s, --s->end);

	blocks_give(s, c->block, blocks_of(c->len));
}

uint64_t store_settle(struct store *s, uint64_t count)
{
	uint64_t n = 0;

	for (; s->lowest < s->end && s->lowest < count; s->lowest++, n++) {
		const struct store_combo *c = combo_at(s, s->lowest);

		blocks_give(s, c->block, blocks_of(c->len));
	}
	return n;
}
