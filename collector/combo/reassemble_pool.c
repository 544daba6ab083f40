// SPDX-License-Identifier: GPL-2.0
/*
 * Reassemble pool: see reassemble_pool.h. In: requests for room. Out: slots, or none without room.
 * Always holds: the pool never exceeds its limit, and a sensor's due combo is never evicted for a
 * combo ahead, unless it is stale. So retransmissions succeed.
 */
#include "reassemble_pool.h"

#include <stdlib.h>
#include <string.h>

/* ---- shares ---------------------------------------------------------------------------------- */

static unsigned int class_of(size_t bytes)
{
	return bytes / REASSEMBLE_POOL_CLASS < REASSEMBLE_POOL_CLASSES
		       ? bytes / REASSEMBLE_POOL_CLASS
		       : REASSEMBLE_POOL_CLASSES - 1;
}

static void share_link(struct reassemble_pool *pool, struct reassemble_pool_share *h)
{
	struct reassemble_pool_share **first = &pool->classes[class_of(h->size)];

	h->link = first;
	h->next = *first;
	if (h->next)
		h->next->link = &h->next;
	*first = h;
}

static void share_unlink(struct reassemble_pool_share *h)
{
	*h->link = h->next;
	if (h->next)
		h->next->link = h->link;
}

static void share_resize(struct reassemble_pool *pool, struct reassemble_pool_share *h, size_t size)
{
	bool moves = class_of(size) != class_of(h->size);

	if (moves)
		share_unlink(h);
	h->size = size;
	if (moves)
		share_link(pool, h);
}

/* Makes the share of a sensor whose first combo takes `bytes`. */
static bool share_begin(struct reassembly *r, struct reassemble_pool *pool, size_t bytes)
{
	struct reassemble_pool_share *h = calloc(1, sizeof(*h));

	if (!h)
		return false;
	h->owner = r;
	h->size = sizeof(*h) + bytes;
	pool->used += sizeof(*h);
	share_link(pool, h);
	r->share = h;
	return true;
}

static void share_end(struct reassembly *r, struct reassemble_pool *pool)
{
	pool->used -= sizeof(*r->share);
	share_unlink(r->share);
	free(r->share);
	r->share = NULL;
}

/* Returns one of the largest shares. The pool is not empty. */
static struct reassemble_pool_share *share_largest(const struct reassemble_pool *pool)
{
	int class = REASSEMBLE_POOL_CLASSES - 1;

	while (!pool->classes[class])
		class --;
	return pool->classes[class];
}

/* ---- slots ----------------------------------------------------------------------------------- */

static struct reassemble_pool_slot **place(const struct reassembly *r, uint64_t count)
{
	return &r->share->slots[count % REASSEMBLE_SLOTS];
}

struct reassemble_pool_slot *reassemble_pool_find(const struct reassembly *r, uint64_t count)
{
	return r->share ? *place(r, count) : NULL;
}

static struct reassemble_pool_list *list_of(struct reassemble_pool *pool,
					    const struct reassemble_pool_slot *s)
{
	return s->due ? &pool->due : &pool->ahead;
}

static void list_append(struct reassemble_pool *pool, struct reassemble_pool_slot *s)
{
	struct reassemble_pool_list *l = list_of(pool, s);

	s->older = l->newest;
	s->newer = NULL;
	if (l->newest)
		l->newest->newer = s;
	else
		l->oldest = s;
	l->newest = s;
}

static void list_remove(struct reassemble_pool *pool, struct reassemble_pool_slot *s)
{
	struct reassemble_pool_list *l = list_of(pool, s);

	if (s->older)
		s->older->newer = s->newer;
	else
		l->oldest = s->newer;
	if (s->newer)
		s->newer->older = s->older;
	else
		l->newest = s->older;
}

void reassemble_pool_touch(struct reassemble_pool *pool, struct reassemble_pool_slot *s,
			   uint64_t now_ns)
{
	s->touched_ns = now_ns;
	if (!s->newer) /* pieces of one combo arrive together */
		return;
	list_remove(pool, s);
	list_append(pool, s);
}

void reassemble_pool_due(struct reassemble_pool *pool, struct reassemble_pool_slot *s)
{
	list_remove(pool, s);
	s->due = true;
	list_append(pool, s);
}

void reassemble_pool_free(struct reassemble_pool *pool, struct reassemble_pool_slot *s)
{
	struct reassembly *r = s->owner;

	list_remove(pool, s);
	*place(r, s->count) = NULL;
	r->whole -= reassemble_pool_whole(s);
	pool->used -= s->size;
	if (--r->held)
		share_resize(pool, r->share, r->share->size - s->size);
	else
		share_end(r, pool);
	free(s);
}

/* ---- room ------------------------------------------------------------------------------------ */

static bool is_stale(const struct reassemble_pool_slot *s, uint64_t now_ns)
{
	return now_ns - s->touched_ns >= REASSEMBLE_POOL_STALE_NS;
}

/* Evicts the sensor's combo furthest ahead. Returns false if there is none. */
static bool evict_ahead(struct reassemble_pool *pool, const struct reassembly *r)
{
	struct reassemble_pool_slot *s = NULL;

	for (int n = REASSEMBLE_SLOTS - 1; n > 0 && !s; n--)
		s = reassemble_pool_find(r, r->next + n);
	if (!s)
		return false;
	reassemble_pool_free(pool, s);
	pool->evicted++;
	return true;
}

/* Evicts one combo for another of `size` bytes, which is `due` or ahead. Returns false if it
 * cannot. */
static bool evict(struct reassemble_pool *pool, const struct reassembly *r, size_t size, bool due,
		  uint64_t now_ns)
{
	struct reassemble_pool_slot *ahead = pool->ahead.oldest, *other = pool->due.oldest;
	size_t then = (r->share ? r->share->size : sizeof(*r->share)) + size;
	const struct reassemble_pool_share *most;

	if (ahead) {
		if (is_stale(ahead, now_ns) && (due || ahead->owner != r))
			return evict_ahead(pool, ahead->owner);
		most = share_largest(pool);
		if ((due || class_of(most->size) > class_of(then)) &&
		    evict_ahead(pool, most->owner))
			return true;
		if (due)
			return evict_ahead(pool, ahead->owner);
	}
	if (!other || other->owner == r || !is_stale(other, now_ns))
		return false;
	reassemble_pool_free(pool, other);
	pool->evicted++;
	return true;
}

static bool make_room(struct reassemble_pool *pool, struct reassembly *r, size_t size, bool due,
		      uint64_t now_ns)
{
	while (pool->used + size > pool->limit)
		if (r->waits || pool->waits || !evict(pool, r, size, due, now_ns))
			return false;
	return true;
}

struct reassemble_pool_slot *reassemble_pool_begin(struct reassembly *r,
						   struct reassemble_pool *pool, uint64_t count,
						   uint32_t total, uint64_t now_ns)
{
	uint32_t units = (total + PIECE_UNIT - 1) / PIECE_UNIT;
	size_t words = (units + REASSEMBLE_POOL_WORD_BITS - 1) / REASSEMBLE_POOL_WORD_BITS;
	struct reassemble_pool_slot *s;
	size_t size = sizeof(*s) + words * sizeof(*s->have) + total;

	if (!make_room(pool, r, size + sizeof(*r->share), count == r->next, now_ns))
		return NULL;
	s = malloc(size);
	if (!s)
		return NULL;
	/* The eviction may have freed this sensor's last slot, and its share. */
	if (r->share) {
		share_resize(pool, r->share, r->share->size + size);
	} else if (!share_begin(r, pool, size)) {
		free(s);
		return NULL;
	}
	memset(s, 0, sizeof(*s) + words * sizeof(*s->have));
	*s = (struct reassemble_pool_slot){ .owner = r,
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
