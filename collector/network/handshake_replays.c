// SPDX-License-Identifier: GPL-2.0
/*
 * Handshake replays: see handshake_replays.h. A ring holds the hashes in order of age. A table of
 * their indices finds them: open addressing, linear probing, no tombstones, at most half full.
 */
#include "handshake_replays.h"

#include <sodium.h>

_Static_assert(REPLAYS <= UINT16_MAX, "an index and 1 more, in 16 bits");
_Static_assert((REPLAYS & (REPLAYS - 1)) == 0, "places are taken by a mask");
_Static_assert(sizeof(((struct replays *)0)->key) == crypto_shorthash_KEYBYTES, "SipHash-2-4");
_Static_assert(crypto_shorthash_BYTES == sizeof(uint64_t), "a word");

void replays_init(struct replays *r)
{
	randombytes_buf(r->key, sizeof(r->key));
}

static uint64_t word_of(const struct replays *r, const uint8_t id[REPLAYS_ID_LEN])
{
	uint64_t word;

	crypto_shorthash((uint8_t *)&word, id, REPLAYS_ID_LEN, r->key);
	return word;
}

static uint32_t home(uint64_t word)
{
	return word & (REPLAYS_PLACES - 1);
}

static uint32_t behind(uint32_t place)
{
	return (place + 1) & (REPLAYS_PLACES - 1);
}

/* Steps from one place to a later one, with wraparound. */
static uint32_t distance(uint32_t from, uint32_t to)
{
	return (to - from) & (REPLAYS_PLACES - 1);
}

/* Returns the word's place, or the free place for it. */
static uint32_t place_of(const struct replays *r, uint64_t word)
{
	uint32_t place = home(word);

	while (r->places[place] && r->words[r->places[place] - 1] != word)
		place = behind(place);
	return place;
}

/* Removes a word, and moves back the words that were displaced past its place. */
static void forget(struct replays *r, uint64_t word)
{
	uint32_t hole = place_of(r, word);

	for (uint32_t i = behind(hole); r->places[i]; i = behind(i)) {
		if (distance(home(r->words[r->places[i] - 1]), i) < distance(hole, i))
			continue;
		r->places[hole] = r->places[i];
		hole = i;
	}
	r->places[hole] = 0;
}

bool replays_has(const struct replays *r, const uint8_t id[REPLAYS_ID_LEN])
{
	return r->places[place_of(r, word_of(r, id))] != 0;
}

void replays_add(struct replays *r, const uint8_t id[REPLAYS_ID_LEN])
{
	uint64_t word = word_of(r, id);

	if (r->count == REPLAYS)
		forget(r, r->words[r->next]);
	else
		r->count++;
	r->words[r->next] = word;
	r->places[place_of(r, word)] = r->next + 1;
	r->next = (r->next + 1) % REPLAYS;
}
