// SPDX-License-Identifier: GPL-2.0
/* Texts: see texts.h. */
#include "texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "wire/bytes.h"

#define SLOTS_LEAST 1024
#define MEMORY_BYTES (64 * 1024 - 64)
#define ADDRESS_TEXT 17

struct texts_memory {
	struct texts_memory *next;
	size_t used, size;
	char bytes[];
};

int texts_init(struct texts *t)
{
	*t = (struct texts){ .slot_count = SLOTS_LEAST };
	t->slots = malloc(SLOTS_LEAST * sizeof(*t->slots));
	if (!t->slots || getrandom(&t->secret, sizeof(t->secret), 0) != sizeof(t->secret))
		return -ENOMEM;
	memset(t->slots, 0xff, SLOTS_LEAST * sizeof(*t->slots));
	return 0;
}

static void free_memory(struct texts *t)
{
	while (t->memory) {
		struct texts_memory *next = t->memory->next;

		free(t->memory);
		t->memory = next;
	}
}

void texts_free(struct texts *t)
{
	free_memory(t);
	free(t->list);
	free(t->hashes);
	free(t->slots);
	*t = (struct texts){ .list = NULL };
}

void texts_reset(struct texts *t)
{
	free_memory(t);
	t->count = 0;
	memset(t->slots, 0xff, t->slot_count * sizeof(*t->slots));
}

/* ---- adding ---------------------------------------------------------------------------------- */

static char *remember(struct texts *t, size_t len)
{
	size_t size = len > MEMORY_BYTES ? len : MEMORY_BYTES;
	struct texts_memory *m = t->memory;

	if (!m || m->size - m->used < len) {
		m = malloc(sizeof(*m) + size);
		if (!m)
			return NULL;
		*m = (struct texts_memory){ .next = t->memory, .size = size };
		t->memory = m;
	}
	m->used += len;
	return m->bytes + m->used - len;
}

static int grow_list(struct texts *t)
{
	uint32_t room = t->room ? 2 * t->room : SLOTS_LEAST / 2;
	struct parquet_text *list = realloc(t->list, room * sizeof(*list));
	uint64_t *hashes;

	if (!list)
		return -ENOMEM;
	t->list = list;
	hashes = realloc(t->hashes, room * sizeof(*hashes));
	if (!hashes)
		return -ENOMEM;
	t->hashes = hashes;
	t->room = room;
	return 0;
}

/* At most half of the slots are taken. */
static int grow_slots(struct texts *t)
{
	uint32_t count = 2 * t->slot_count;
	uint32_t *slots = malloc(count * sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	memset(slots, 0xff, count * sizeof(*slots));
	free(t->slots);
	t->slots = slots;
	t->slot_count = count;
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t slot = t->hashes[i] & (count - 1);

		while (slots[slot] != TEXTS_NONE)
			slot = (slot + 1) & (count - 1);
		slots[slot] = i;
	}
	return 0;
}

/* Returns the new text's number, without its bytes. */
static uint32_t add(struct texts *t, uint64_t hash, uint32_t slot)
{
	if (t->count == t->room && grow_list(t))
		return TEXTS_NONE;
	if (2 * (t->count + 1) > t->slot_count) {
		if (grow_slots(t))
			return TEXTS_NONE;
		slot = hash & (t->slot_count - 1);
		while (t->slots[slot] != TEXTS_NONE)
			slot = (slot + 1) & (t->slot_count - 1);
	}
	t->hashes[t->count] = hash;
	t->slots[slot] = t->count;
	return t->count++;
}

uint32_t texts_number(struct texts *t, const char *bytes, uint32_t len)
{
	uint64_t hash = XXH3_64bits_withSeed(bytes, len, t->secret);
	uint32_t slot = hash & (t->slot_count - 1), number;
	char *copy;

	for (; t->slots[slot] != TEXTS_NONE; slot = (slot + 1) & (t->slot_count - 1)) {
		number = t->slots[slot];
		if (t->hashes[number] == hash && t->list[number].len == len &&
		    !memcmp(t->list[number].bytes, bytes, len))
			return number;
	}
	copy = remember(t, len);
	number = copy ? add(t, hash, slot) : TEXTS_NONE;
	if (number != TEXTS_NONE) {
		memcpy(copy, bytes, len);
		t->list[number] = (struct parquet_text){ .bytes = copy, .len = len };
	}
	return number;
}

/* The hash is a permutation of the address: equal hashes are equal addresses. */
static uint64_t hash_address(const struct texts *t, const uint8_t address[6])
{
	uint64_t h = (load_32(address) | (uint64_t)address[4] << 32 | (uint64_t)address[5] << 40) ^
		     t->secret;

	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 29) * (t->secret | 1);
	return h ^ h >> 32;
}

static void write_address(char *text, const uint8_t address[6])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < 6; i++) {
		text[3 * i] = digits[address[i] >> 4];
		text[3 * i + 1] = digits[address[i] & 15];
		if (i < 5)
			text[3 * i + 2] = ':';
	}
}

uint32_t texts_address(struct texts *t, const uint8_t address[6])
{
	uint64_t hash = hash_address(t, address);
	uint32_t slot = hash & (t->slot_count - 1), number;
	char *text;

	for (; t->slots[slot] != TEXTS_NONE; slot = (slot + 1) & (t->slot_count - 1))
		if (t->hashes[t->slots[slot]] == hash)
			return t->slots[slot];
	text = remember(t, ADDRESS_TEXT);
	number = text ? add(t, hash, slot) : TEXTS_NONE;
	if (number != TEXTS_NONE) {
		write_address(text, address);
		t->list[number] = (struct parquet_text){ .bytes = text, .len = ADDRESS_TEXT };
	}
	return number;
}
