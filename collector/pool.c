// SPDX-License-Identifier: GPL-2.0
/*
 * Pool: see pool.h. In: what a piece needs room for. Out: slots, or none where there is no room.
 * Always holds: the pool's bytes stay below its limit whatever arrives, and the combo that is due
 * next of a sensor gives way to no other's that is not: so what is sent again comes through.
 */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

#include "reassemble.h"

/* ---- slots ----------------------------------------------------------------------------------- */

static struct pool_slot **place(const struct reassembly *r, uint64_t count)
{
	return &r->slots[count % REASSEMBLE_SLOTS];
}

struct pool_slot *pool_find(const struct reassembly *r, uint64_t count)
{
	return r->slots ? *place(r, count) : NULL;
}

static struct pool_list *list_of(struct pool *pool, const struct pool_slot *s)
{
	return s->due ? &pool->due : &pool->ahead;
}

static void list_append(struct pool *pool, struct pool_slot *s)
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

static void list_remove(struct pool *pool, struct pool_slot *s)
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

void pool_touch(struct pool *pool, struct pool_slot *s, uint64_t now_ns)
{
	s->touched_ns = now_ns;
	list_remove(pool, s);
	list_append(pool, s);
}

void pool_due(struct pool *pool, struct pool_slot *s)
{
	list_remove(pool, s);
	s->due = true;
	list_append(pool, s);
}

void pool_free(struct pool *pool, struct pool_slot *s)
{
	struct reassembly *r = s->owner;

	list_remove(pool, s);
	*place(r, s->count) = NULL;
	r->whole -= pool_whole(s);
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
static bool evict_ahead(struct pool *pool, const struct pool_slot *oldest)
{
	const struct reassembly *r = oldest->owner;
	struct pool_slot *s = NULL;

	for (int n = REASSEMBLE_SLOTS - 1; n > 0 && !s; n--)
		s = pool_find(r, r->next + n);
	pool_free(pool, s);
	pool->evicted++;
	return true;
}

/* Gets something out of the way for a combo that is `due`, or one that is ahead. */
static bool evict(struct pool *pool, const struct reassembly *keep, bool due, uint64_t now_ns)
{
	struct pool_slot *ahead = pool->ahead.oldest, *other = pool->due.oldest;

	if (ahead && (due || (ahead->owner != keep && now_ns - ahead->touched_ns >= POOL_STALE_NS)))
		return evict_ahead(pool, ahead);
	if (!other || other->owner == keep || now_ns - other->touched_ns < POOL_STALE_NS)
		return false;
	pool_free(pool, other);
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

struct pool_slot *pool_begin(struct reassembly *r, struct pool *pool, uint64_t count,
			     uint32_t total, uint64_t now_ns)
{
	uint32_t units = (total + PIECE_UNIT - 1) / PIECE_UNIT;
	size_t words = (units + POOL_WORD_BITS - 1) / POOL_WORD_BITS, table;
	struct pool_slot *s;
	size_t size = sizeof(*s) + words * sizeof(*s->have) + total;

	table = REASSEMBLE_SLOTS * sizeof(*r->slots);
	if (!make_room(pool, r, size + table, count == r->next, now_ns))
		return NULL;
	/* What gave way may have been the last of this sensor, and its table with it. */
	s = slots_begin(r, pool) ? malloc(size) : NULL;
	if (!s)
		return NULL;
	memset(s, 0, sizeof(*s) + words * sizeof(*s->have));
	*s = (struct pool_slot){ .owner = r,
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
