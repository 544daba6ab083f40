// SPDX-License-Identifier: GPL-2.0
/* Retained: see retained.h. */
#include "retained.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIOS_MAX 4096 /* of an entry: more than these are forgotten */
#define SLOT_BITS 24	/* of ns: frames that are equal to many others have few of them in a slot */
#define CENTRE_MOST_NS 1000000

int retained_init(struct retained *r)
{
	*r = (struct retained){ .oldest = RETAINED_CHUNK, .end = RETAINED_CHUNK };
	r->newest_ns = INT64_MIN;
	r->buckets = calloc(RETAINED_BUCKETS, sizeof(*r->buckets));
	return r->buckets ? 0 : -ENOMEM;
}

void retained_free(struct retained *r)
{
	for (int i = 0; i < RETAINED_CHUNKS; i++)
		free(r->chunks[i]);
	free(r->buckets);
	memset(r, 0, sizeof(*r));
}

static uint64_t *bucket(const struct retained *r, uint64_t key, int64_t slot)
{
	return &r->buckets[(key + (uint64_t)slot * 0x9e3779b97f4a7c15) % RETAINED_BUCKETS];
}

static uint8_t **chunk_of(struct retained *r, uint64_t place)
{
	return &r->chunks[place / RETAINED_CHUNK % RETAINED_CHUNKS];
}

static struct retained_entry *entry(const struct retained *r, uint64_t place)
{
	uint8_t *chunk = r->chunks[place / RETAINED_CHUNK % RETAINED_CHUNKS];

	return (struct retained_entry *)(chunk + place % RETAINED_CHUNK);
}

/* Entries begin at multiples of 8. */
static size_t size_of(uint32_t radios)
{
	return (sizeof(struct retained_entry) + radios * sizeof(uint32_t) + 7) & ~(size_t)7;
}

/* The oldest chunk ends where its bytes do, or where an entry without radios is. */
static void forget_oldest(struct retained *r, bool evict)
{
	uint8_t **chunk = chunk_of(r, r->oldest);

	for (uint64_t at = 0; evict && at + sizeof(struct retained_entry) <= RETAINED_CHUNK;) {
		const struct retained_entry *e = (struct retained_entry *)(*chunk + at);

		if (!e->count)
			break;
		r->evicted++;
		at += size_of(e->count);
	}
	free(*chunk);
	*chunk = NULL;
	r->oldest += RETAINED_CHUNK;
}

/* Makes room for the chunk at `end`. */
static int next_chunk(struct retained *r)
{
	while (r->end - r->oldest >= 2 * RETAINED_CHUNK &&
	       entry(r, r->oldest + RETAINED_CHUNK)->at_ns < r->newest_ns - RETAINED_NS)
		forget_oldest(r, false);
	if (r->end - r->oldest == (uint64_t)RETAINED_CHUNKS * RETAINED_CHUNK)
		forget_oldest(r, true);
	*chunk_of(r, r->end) = calloc(1, RETAINED_CHUNK);
	return *chunk_of(r, r->end) ? 0 : -ENOMEM;
}

int retained_add(struct retained *r, const struct transmission *t, double centre_ns)
{
	uint32_t count = t->count < RADIOS_MAX ? t->count : RADIOS_MAX, n = 0;
	uint64_t *first = bucket(r, t->key, transmission_ns(t) >> SLOT_BITS);
	size_t left = RETAINED_CHUNK - r->end % RETAINED_CHUNK;
	struct retained_entry *e;

	if (left < size_of(count))
		r->end += left;
	if (r->end % RETAINED_CHUNK == 0 && next_chunk(r))
		return -ENOMEM;
	e = entry(r, r->end);
	*e = (struct retained_entry){
		.at_ns = transmission_ns(t),
		.key = t->key,
		.number = t->number,
		.left = t->left,
		.before = *first,
		.centre_ns = fabs(centre_ns) < CENTRE_MOST_NS ? centre_ns : 0, /* nor is it NaN */
		.part = t->part,
		.count = count,
	};
	for (const struct heard *h = t->first; n < count; h = h->next)
		e->radios[n++] = h->radio;
	*first = r->end;
	r->end += size_of(count);
	if (e->at_ns > r->newest_ns)
		r->newest_ns = e->at_ns;
	return 0;
}

static bool has_radio(const struct retained_entry *e, uint32_t radio)
{
	for (uint32_t i = 0; i < e->count; i++)
		if (e->radios[i] == radio)
			return true;
	return false;
}

/* Each late reception has an entry of its own, with the transmission's number and time. */
static bool has_come_late(const struct retained *r, const struct retained_entry *of, uint32_t radio)
{
	const struct retained_entry *e;

	for (uint64_t at = *bucket(r, of->key, of->at_ns >> SLOT_BITS); at >= r->oldest;
	     at = e->before) {
		e = entry(r, at);
		if (e->number == of->number && has_radio(e, radio))
			return true;
	}
	return false;
}

const struct retained_entry *retained_find(const struct retained *r, uint64_t key, uint32_t part,
					   uint32_t radio, int64_t unified_ns, double window_ns)
{
	int64_t reach = (int64_t)window_ns + CENTRE_MOST_NS;
	int64_t slot = (unified_ns - reach) >> SLOT_BITS, last = (unified_ns + reach) >> SLOT_BITS;
	const struct retained_entry *best = NULL, *e;
	double least = window_ns;

	for (; slot <= last; slot++)
		for (uint64_t at = *bucket(r, key, slot); at >= r->oldest; at = e->before) {
			double off;

			e = entry(r, at);
			off = fabs((double)(unified_ns - e->at_ns) - e->centre_ns);
			if (e->key != key || e->part != part || off > least || has_radio(e, radio))
				continue;
			least = off;
			best = e;
		}
	return best && !has_come_late(r, best, radio) ? best : NULL;
}
