// SPDX-License-Identifier: GPL-2.0
/*
 * Reassemble: see reassemble.h. In: pieces of authentic sensors, split at any units. Out: complete
 * combos, in order. Always holds: received bytes of a combo are never overwritten.
 */
#include "reassemble.h"

#include <string.h>

#include "wire/spool.h"

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Returns the full count for the low 24 bits in a piece: the one nearest to `next`. */
static uint64_t full_count(const struct reassembly *r, uint32_t low)
{
	int32_t ahead = (int32_t)((low - (uint32_t)r->next) << (32 - PIECE_COMBO_BITS)) >>
			(32 - PIECE_COMBO_BITS);

	return r->next + (int64_t)ahead;
}

/* Returns the bits of the units in [from, to) that belong to word `w`. */
static uint64_t word_mask(uint32_t w, uint32_t from, uint32_t to)
{
	uint32_t start = w * REASSEMBLE_POOL_WORD_BITS;
	uint64_t mask = UINT64_MAX;

	if (from > start)
		mask &= UINT64_MAX << (from - start);
	if (to < start + REASSEMBLE_POOL_WORD_BITS)
		mask &= UINT64_MAX >> (start + REASSEMBLE_POOL_WORD_BITS - to);
	return mask;
}

/* Most words are full, and popcount is a function call if the target may lack the instruction. */
static uint32_t count_bits(uint64_t word)
{
	return word == UINT64_MAX ? REASSEMBLE_POOL_WORD_BITS : __builtin_popcountll(word);
}

static void copy_unit(struct reassemble_pool_slot *s, const struct piece *p, uint32_t unit)
{
	uint32_t at = unit * PIECE_UNIT;
	uint32_t len = s->total - at < PIECE_UNIT ? s->total - at : PIECE_UNIT;

	memcpy(s->data + at, p->data + (at - p->offset), len);
}

/* Copies only units that are new. Returns their number. */
static uint32_t copy_new(struct reassemble_pool_slot *s, const struct piece *p)
{
	uint32_t from = p->offset / PIECE_UNIT;
	uint32_t to = (p->offset + p->len + PIECE_UNIT - 1) / PIECE_UNIT, fresh = 0;

	for (uint32_t w = from / REASSEMBLE_POOL_WORD_BITS; w * REASSEMBLE_POOL_WORD_BITS < to; w++)
		fresh += count_bits(word_mask(w, from, to) & ~s->have[w]);
	if (fresh == to - from)
		memcpy(s->data + p->offset, p->data, p->len);
	for (uint32_t u = from; fresh && fresh < to - from && u < to; u++)
		if (!(s->have[u / REASSEMBLE_POOL_WORD_BITS] >> u % REASSEMBLE_POOL_WORD_BITS & 1))
			copy_unit(s, p, u);
	for (uint32_t w = from / REASSEMBLE_POOL_WORD_BITS; w * REASSEMBLE_POOL_WORD_BITS < to; w++)
		s->have[w] |= word_mask(w, from, to);
	return fresh;
}

enum reassemble_result reassemble_add(struct reassembly *r, struct reassemble_pool *pool,
				      const struct piece *p, uint64_t now_ns)
{
	uint64_t count = full_count(r, p->combo);
	struct reassemble_pool_slot *s;
	uint32_t fresh;

	if (!p->total || p->total > SPOOL_RECORD_MAX)
		return REASSEMBLE_BAD;
	if ((int64_t)(count - r->next) < 0)
		return REASSEMBLE_DUPLICATE;
	if (count - r->next >= REASSEMBLE_SLOTS)
		return REASSEMBLE_REFUSED; /* a FLOOR must come first */
	s = reassemble_pool_find(r, count);
	if (reassemble_pool_whole(s))
		return REASSEMBLE_DUPLICATE;
	if (s && s->total != p->total) {
		/* The old pieces were in flight when their agent was killed. */
		reassemble_pool_free(pool, s);
		s = NULL;
	}
	s = s ? s : reassemble_pool_begin(r, pool, count, p->total, now_ns);
	if (!s) {
		pool->refused++;
		return REASSEMBLE_REFUSED;
	}
	fresh = copy_new(s, p);
	s->got += fresh;
	r->whole += reassemble_pool_whole(s);
	reassemble_pool_touch(pool, s, now_ns);
	return fresh ? REASSEMBLE_TAKEN : REASSEMBLE_DUPLICATE;
}

/* ---- combos ---------------------------------------------------------------------------------- */

/* Marks the slot at the new `next` as due. */
static void next_due(struct reassembly *r, struct reassemble_pool *pool)
{
	struct reassemble_pool_slot *s = reassemble_pool_find(r, r->next);

	if (s && !s->due)
		reassemble_pool_due(pool, s);
}

/* Skips missing combos below the floor, up to the next complete combo. */
static void pass_over(struct reassembly *r, struct reassemble_pool *pool)
{
	while (r->held && r->next < r->floor &&
	       !reassemble_pool_whole(reassemble_pool_find(r, r->next))) {
		if (reassemble_pool_find(r, r->next))
			reassemble_pool_free(pool, reassemble_pool_find(r, r->next));
		r->next++;
	}
	if (!r->held && r->next < r->floor)
		r->next = r->floor;
	next_due(r, pool);
}

const uint8_t *reassemble_take(struct reassembly *r, struct reassemble_pool *pool, size_t *len,
			       uint64_t *count)
{
	struct reassemble_pool_slot *s;

	if (r->next < r->floor)
		pass_over(r, pool);
	s = reassemble_pool_find(r, r->next);
	if (!reassemble_pool_whole(s))
		return NULL;
	*len = s->total;
	*count = r->next;
	return s->data;
}

void reassemble_done(struct reassembly *r, struct reassemble_pool *pool)
{
	reassemble_pool_free(pool, reassemble_pool_find(r, r->next));
	r->next++;
	next_due(r, pool);
}

void reassemble_floor(struct reassembly *r, uint64_t combo)
{
	if (combo > r->floor && combo <= INT64_MAX) /* no run gets that far */
		r->floor = combo;
}

void reassemble_reach(struct reassembly *r, const struct piece *p, uint64_t ahead)
{
	uint64_t count = full_count(r, p->combo);

	if ((int64_t)(count - r->next) >= (int64_t)ahead)
		reassemble_floor(r, count - ahead + 1);
}

bool reassemble_is_beyond(const struct reassembly *r, const struct piece *p)
{
	return (int64_t)(full_count(r, p->combo) - r->next) >= REASSEMBLE_SLOTS;
}

uint64_t reassemble_held(const struct reassembly *r)
{
	uint64_t held = 0;

	for (int n = 0; r->whole && n < REASSEMBLE_SLOTS - 1; n++)
		held |= (uint64_t)reassemble_pool_whole(reassemble_pool_find(r, r->next + 1 + n))
			<< n;
	return held;
}

void reassemble_resume(struct reassembly *r, struct reassemble_pool *pool)
{
	for (int i = 0; r->held > r->whole && i < REASSEMBLE_SLOTS; i++)
		if (r->share->slots[i] && !reassemble_pool_whole(r->share->slots[i]))
			reassemble_pool_free(pool, r->share->slots[i]);
}

void reassemble_free(struct reassembly *r, struct reassemble_pool *pool)
{
	for (int i = 0; r->held && i < REASSEMBLE_SLOTS; i++)
		if (r->share->slots[i])
			reassemble_pool_free(pool, r->share->slots[i]);
}

void reassemble_start(struct reassembly *r, struct reassemble_pool *pool, uint64_t next)
{
	reassemble_free(r, pool);
	*r = (struct reassembly){ .next = next, .waits = r->waits };
}
