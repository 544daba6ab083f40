// SPDX-License-Identifier: GPL-2.0
/* Transmitters: see stats_transmitters.h. */
#include "stats_transmitters.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>

#define SLOTS (2u * TRANSMITTERS_MAX) /* a power of two */
#define KEPT (TRANSMITTERS_MAX / 4 * 3)

int transmitters_init(struct transmitters *t)
{
	*t = (struct transmitters){ .slots = calloc(SLOTS, sizeof(*t->slots)) };
	randombytes_buf(&t->secret, sizeof(t->secret));
	t->secret |= 1;
	return t->slots ? 0 : -ENOMEM;
}

void transmitters_free(struct transmitters *t)
{
	free(t->slots);
	t->slots = NULL;
}

/* Returns the address's slot, or the free one for it. */
static struct transmitter *slot(const struct transmitters *t, uint64_t address)
{
	uint64_t h = (address ^ t->secret >> 7) * t->secret;
	uint32_t at;

	h ^= h >> 29;
	at = (h * 0x9e3779b97f4a7c15ULL >> 40) & (SLOTS - 1);
	while (t->slots[at].address && t->slots[at].address != address)
		at = (at + 1) & (SLOTS - 1);
	return &t->slots[at];
}

static int busier(const void *a, const void *b)
{
	const struct transmitter *x = a, *y = b;

	if (x->frames != y->frames)
		return x->frames > y->frames ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* Sorts all entries into an array; the caller frees it. */
static struct transmitter *sorted(const struct transmitters *t)
{
	struct transmitter *list = malloc((t->count + 1) * sizeof(*list));
	uint32_t n = 0;

	if (!list)
		return NULL;
	for (uint32_t i = 0; i < SLOTS; i++)
		if (t->slots[i].address)
			list[n++] = t->slots[i];
	qsort(list, n, sizeof(*list), busier);
	return list;
}

/* Forgets the quarter with the fewest frames. */
static void forget(struct transmitters *t)
{
	struct transmitter *list = sorted(t);
	uint32_t count = t->count;

	if (!list)
		return;
	for (uint32_t i = 0; i < SLOTS; i++)
		t->slots[i].address = 0;
	for (uint32_t i = 0; i < KEPT; i++)
		*slot(t, list[i].address) = list[i];
	t->forgotten += count - KEPT;
	t->count = KEPT;
	free(list);
}

void transmitters_count(struct transmitters *t, uint64_t address)
{
	struct transmitter *s = slot(t, address);

	if (!address)
		return;
	if (!s->address && t->count == TRANSMITTERS_MAX) {
		forget(t);
		s = slot(t, address);
	}
	if (!s->address && t->count == TRANSMITTERS_MAX) { /* no memory to sort */
		t->forgotten++;
		return;
	}
	if (!s->address) {
		*s = (struct transmitter){ .address = address };
		t->count++;
	}
	s->frames++;
}

const struct transmitter *transmitters_find(const struct transmitters *t, uint64_t address)
{
	const struct transmitter *s = address ? slot(t, address) : NULL;

	return s && s->address ? s : NULL;
}

uint32_t transmitters_rank(struct transmitters *t, uint64_t *addresses, uint32_t most)
{
	struct transmitter *list = sorted(t);
	uint32_t n = 0;

	for (; list && n < most && n < t->count; n++) {
		addresses[n] = list[n].address;
		slot(t, list[n].address)->place = n + 1;
	}
	free(list);
	return n;
}
