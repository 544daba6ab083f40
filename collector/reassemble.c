// SPDX-License-Identifier: GPL-2.0
/*
 * Reassembly: see reassemble.h. In: pieces of authentic sensors, cut in any way. Out: whole combos
 * in order. Always holds: the pool's bytes stay below its limit whatever arrives, and the combo
 * that is due next of a sensor gives way to no other's that is not: so what is sent again comes
 * through.
 */
#include "reassemble.h"

#include <stdlib.h>
#include <string.h>

#include "wire/spool.h"

#define WORD_BITS 64

struct reassembly_slot {
	struct reassembly *owner;
	struct reassembly_slot *older, *newer; /* in the pool's list */
	uint64_t count;			       /* of the combo */
	uint64_t touched_ns;
	uint32_t total;	     /* bytes of the combo */
	uint32_t units, got; /* PIECE_UNIT bytes each, the last one perhaps less */
	size_t size;	     /* of all this */
	bool due;	     /* in the list of those that are due next */
	uint8_t *data;	     /* behind `have` */
	uint64_t have[];     /* a bit a unit */
};

/* ---- slots in the pool ----------------------------------------------------------------------- */

static struct reassembly_slot **place(const struct reassembly *r, uint64_t count)
{
	return &r->slots[count % REASSEMBLE_SLOTS];
}

static struct reassembly_slot *slot_of(const struct reassembly *r, uint64_t count)
{
	return r->slots ? *place(r, count) : NULL;
}

static bool slot_whole(const struct reassembly_slot *s)
{
	return s && s->got == s->units;
}

static struct pool_list *list_of(struct pool *pool, const struct reassembly_slot *s)
{
	return s->due ? &pool->due : &pool->ahead;
}

static void list_append(struct pool *pool, struct reassembly_slot *s)
{
	struct pool_list *l = list_of(pool, s);

	s->older = l->newest;
	s->newer = NULL;
	if (l->newest)
		l->newest->newer = s;
	else
		l->oldest = s;
	l->newest = s;
}

static void list_remove(struct pool *pool, struct reassembly_slot *s)
{
	struct pool_list *l = list_of(pool, s);

	if (s->older)
		s->older->newer = s->newer;
	else
		l->oldest = s->newer;
	if (s->newer)
		s->newer->older = s->older;
	else
		l->newest = s->older;
}

static void slot_free(struct pool *pool, struct reassembly_slot *s)
{
	struct reassembly *r = s->owner;

	list_remove(pool, s);
	*place(r, s->count) = NULL;
	r->whole -= slot_whole(s);
	pool->used -= s->size;
	free(s);
	if (--r->held)
		return;
	pool->used -= REASSEMBLE_SLOTS * sizeof(*r->slots);
	free(r->slots);
	r->slots = NULL;
}

/* ---- room ------------------------------------------------------------------------------------ */

/* The combo furthest ahead of the sensor that was silent longest: it is needed last. */
static bool evict_ahead(struct pool *pool, const struct reassembly_slot *oldest)
{
	const struct reassembly *r = oldest->owner;
	struct reassembly_slot *s = NULL;

	for (int n = REASSEMBLE_SLOTS - 1; n > 0 && !s; n--)
		s = slot_of(r, r->next + n);
	slot_free(pool, s);
	pool->evicted++;
	return true;
}

/* Gets something out of the way for a combo that is `due`, or one that is ahead. */
static bool evict(struct pool *pool, const struct reassembly *keep, bool due, uint64_t now_ns)
{
	struct reassembly_slot *ahead = pool->ahead.oldest, *other = pool->due.oldest;

	if (ahead && (due || (ahead->owner != keep && now_ns - ahead->touched_ns >= POOL_STALE_NS)))
		return evict_ahead(pool, ahead);
	if (!other || other->owner == keep || now_ns - other->touched_ns < POOL_STALE_NS)
		return false;
	slot_free(pool, other);
	pool->evicted++;
	return true;
}

static bool make_room(struct pool *pool, struct reassembly *r, size_t size, bool due,
		      uint64_t now_ns)
{
	while (pool->used + size > pool->limit)
		if (!evict(pool, r, due, now_ns))
			return false;
	return true;
}

static bool slots_begin(struct reassembly *r, struct pool *pool)
{
	if (r->slots)
		return true;
	r->slots = calloc(REASSEMBLE_SLOTS, sizeof(*r->slots));
	if (r->slots)
		pool->used += REASSEMBLE_SLOTS * sizeof(*r->slots);
	return r->slots;
}

/* Returns NULL where there is no room. */
static struct reassembly_slot *slot_begin(struct reassembly *r, struct pool *pool, uint64_t count,
					  uint32_t total, uint64_t now_ns)
{
	uint32_t units = (total + PIECE_UNIT - 1) / PIECE_UNIT;
	size_t words = (units + WORD_BITS - 1) / WORD_BITS, table;
	struct reassembly_slot *s;
	size_t size = sizeof(*s) + words * sizeof(*s->have) + total;

	table = REASSEMBLE_SLOTS * sizeof(*r->slots);
	if (!make_room(pool, r, size + table, count == r->next, now_ns))
		return NULL;
	/* What gave way may have been the last of this sensor, and its table with it. */
	s = slots_begin(r, pool) ? malloc(size) : NULL;
	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s) + words * sizeof(*s->have));
	*s = (struct reassembly_slot){ .owner = r,
				       .count = count,
				       .total = total,
				       .units = units,
				       .size = size,
				       .due = count == r->next,
				       .data = (uint8_t *)(s->have + words) };
	list_append(pool, s);
	*place(r, count) = s;
	pool->used += size;
	r->held++;
	return s;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* The full count of which a piece carries the low 24 bits: the one nearest to the next due. */
static uint64_t full_count(const struct reassembly *r, uint32_t low)
{
	int32_t ahead = (int32_t)((low - (uint32_t)r->next) << (32 - PIECE_COMBO_BITS)) >>
			(32 - PIECE_COMBO_BITS);

	return r->next + (int64_t)ahead;
}

/* The bits of units `from` to `to`, the latter not included, that are in word `w`. */
static uint64_t word_mask(uint32_t w, uint32_t from, uint32_t to)
{
	uint32_t start = w * WORD_BITS;
	uint64_t mask = UINT64_MAX;

	if (from > start)
		mask &= UINT64_MAX << (from - start);
	if (to < start + WORD_BITS)
		mask &= UINT64_MAX >> (start + WORD_BITS - to);
	return mask;
}

static void copy_unit(struct reassembly_slot *s, const struct piece *p, uint32_t unit)
{
	uint32_t at = unit * PIECE_UNIT;
	uint32_t len = s->total - at < PIECE_UNIT ? s->total - at : PIECE_UNIT;

	memcpy(s->data + at, p->data + (at - p->offset), len);
}

/* Copies what is new: what is here stays as it is. Returns how many units were new. */
static uint32_t copy_new(struct reassembly_slot *s, const struct piece *p)
{
	uint32_t from = p->offset / PIECE_UNIT;
	uint32_t to = (p->offset + p->len + PIECE_UNIT - 1) / PIECE_UNIT, fresh = 0;

	for (uint32_t w = from / WORD_BITS; w * WORD_BITS < to; w++)
		fresh += __builtin_popcountll(word_mask(w, from, to) & ~s->have[w]);
	if (fresh == to - from)
		memcpy(s->data + p->offset, p->data, p->len);
	for (uint32_t u = from; fresh && fresh < to - from && u < to; u++)
		if (!(s->have[u / WORD_BITS] >> u % WORD_BITS & 1))
			copy_unit(s, p, u);
	for (uint32_t w = from / WORD_BITS; w * WORD_BITS < to; w++)
		s->have[w] |= word_mask(w, from, to);
	return fresh;
}

static void touch(struct pool *pool, struct reassembly_slot *s, uint64_t now_ns)
{
	s->touched_ns = now_ns;
	list_remove(pool, s);
	list_append(pool, s);
}

enum reassemble_result reassemble_add(struct reassembly *r, struct pool *pool,
				      const struct piece *p, uint64_t now_ns)
{
	uint64_t count = full_count(r, p->combo);
	struct reassembly_slot *s;
	uint32_t fresh;

	if (!p->total || p->total > SPOOL_RECORD_MAX)
		return REASSEMBLE_BAD;
	if ((int64_t)(count - r->next) < 0)
		return REASSEMBLE_DUPLICATE;
	if (count - r->next >= REASSEMBLE_SLOTS)
		return REASSEMBLE_REFUSED; /* a FLOOR is to come first */
	s = slot_of(r, count);
	if (slot_whole(s))
		return REASSEMBLE_DUPLICATE;
	if (s && s->total != p->total) {
		/* What an agent that was killed had sent of it was still on its way here. */
		slot_free(pool, s);
		s = NULL;
	}
	s = s ? s : slot_begin(r, pool, count, p->total, now_ns);
	if (!s) {
		pool->refused++;
		return REASSEMBLE_REFUSED;
	}
	fresh = copy_new(s, p);
	s->got += fresh;
	r->whole += slot_whole(s);
	touch(pool, s, now_ns);
	return fresh ? REASSEMBLE_TAKEN : REASSEMBLE_DUPLICATE;
}

/* ---- combos ---------------------------------------------------------------------------------- */

/* `next` has moved: the slot there is due now. */
static void next_due(struct reassembly *r, struct pool *pool)
{
	struct reassembly_slot *s = slot_of(r, r->next);

	if (!s || s->due)
		return;
	list_remove(pool, s);
	s->due = true;
	list_append(pool, s);
}

/* Passes over what is missing below the floor, up to the next combo that is whole. */
static void pass_over(struct reassembly *r, struct pool *pool)
{
	while (r->held && r->next < r->floor && !slot_whole(slot_of(r, r->next))) {
		if (slot_of(r, r->next))
			slot_free(pool, slot_of(r, r->next));
		r->next++;
	}
	if (!r->held && r->next < r->floor)
		r->next = r->floor;
	next_due(r, pool);
}

const uint8_t *reassemble_take(struct reassembly *r, struct pool *pool, size_t *len,
			       uint64_t *count)
{
	struct reassembly_slot *s;

	if (r->next < r->floor)
		pass_over(r, pool);
	s = slot_of(r, r->next);
	if (!slot_whole(s))
		return NULL;
	*len = s->total;
	*count = r->next;
	return s->data;
}

void reassemble_done(struct reassembly *r, struct pool *pool)
{
	slot_free(pool, slot_of(r, r->next));
	r->next++;
	next_due(r, pool);
}

void reassemble_floor(struct reassembly *r, uint64_t combo)
{
	if (combo > r->floor && combo <= INT64_MAX) /* no run comes that far */
		r->floor = combo;
}

void reassemble_reach(struct reassembly *r, const struct piece *p, uint64_t ahead)
{
	uint64_t count = full_count(r, p->combo);

	if ((int64_t)(count - r->next) >= (int64_t)ahead)
		reassemble_floor(r, count - ahead + 1);
}

uint64_t reassemble_held(const struct reassembly *r)
{
	uint64_t held = 0;

	for (int n = 0; r->whole && n < REASSEMBLE_SLOTS - 1; n++)
		held |= (uint64_t)slot_whole(slot_of(r, r->next + 1 + n)) << n;
	return held;
}

void reassemble_resume(struct reassembly *r, struct pool *pool)
{
	for (int i = 0; r->held > r->whole && i < REASSEMBLE_SLOTS; i++)
		if (r->slots[i] && !slot_whole(r->slots[i]))
			slot_free(pool, r->slots[i]);
}

void reassemble_free(struct reassembly *r, struct pool *pool)
{
	for (int i = 0; r->held && i < REASSEMBLE_SLOTS; i++)
		if (r->slots[i])
			slot_free(pool, r->slots[i]);
}

void reassemble_start(struct reassembly *r, struct pool *pool, uint64_t next)
{
	reassemble_free(r, pool);
	*r = (struct reassembly){ .next = next };
}
