// SPDX-License-Identifier: GPL-2.0
/*
 * Spool policy: see spool_policy.h. In: combos, the store. Out: slots of the spool thread, combos
 * back in the store. Always holds: lowest <= store.end <= end, and what is at or above store.end is
 * in the file or on its way there, so that nothing is sent out of order. Allocates nothing.
 */
#include "spool_policy.h"

#include <string.h>

void spool_policy_begin(struct spool_policy *st, struct spool *spool, struct deliver *d)
{
	*st = (struct spool_policy){ .spool = spool, .deliver = d, .end = d->store.end };
	st->handed = st->aged[0] = st->aged[1] = st->end;
	if (spool) {
		st->info = &spool->stowed;
		*st->info = spool->info;
	}
}

static bool is_behind(const struct spool_policy *st)
{
	return st->end > st->deliver->store.end;
}

/* ---- there ----------------------------------------------------------------------------------- */

static bool put_info(struct spool_policy *st)
{
	struct spool_slot *slot = spool_slot(st->spool);

	if (!slot)
		return false;
	slot->kind = SPOOL_INFO;
	slot->len = st->info->len;
	memcpy(slot->bytes, st->info->text, st->info->len);
	spool_put(st->spool);
	st->info_waits = false;
	return true;
}

static struct spool_slot *slot_for(struct spool_policy *st, uint64_t count, uint64_t first,
				   uint32_t frames, size_t len)
{
	struct spool_slot *slot;

	if (st->info_waits && count >= st->info_from && !put_info(st))
		return NULL;
	slot = spool_slot(st->spool);
	if (!slot)
		return NULL;
	slot->kind = SPOOL_COMBO;
	slot->count = count;
	slot->first = first;
	slot->frames = frames;
	slot->len = len;
	return slot;
}

/* Of the combos that are kept from now on. One at a time: another one is of those that are kept
 * when it has been handed over. */
static void look_for_info(struct spool_policy *st)
{
	if (st->info_waits || !session_lasting(st->deliver->session, st->info))
		return;
	st->info_waits = true;
	st->info_from = st->end;
}

bool spool_policy_put(struct spool_policy *st, const uint8_t *wire, size_t len, uint64_t first,
		      uint32_t frames, bool spill)
{
	struct spool_slot *slot;

	if (st->spool)
		look_for_info(st);
	if (!is_behind(st) && deliver_put(st->deliver, wire, len, first, frames)) {
		st->end = st->deliver->store.end;
		return true;
	}
	/* Those before it go first. */
	if (!spill || !spool_policy_works(st) || st->handed < st->end)
		return false;
	slot = slot_for(st, st->end, first, frames, len);
	if (!slot)
		return false;
	memcpy(slot->bytes, wire, len);
	spool_put(st->spool);
	st->handed = ++st->end;
	return true;
}

/* Where memory runs short, also what is young. */
static uint64_t due_below(struct spool_policy *st, bool up, uint64_t now_ns)
{
	const struct store *s = &st->deliver->store;

	if (now_ns - st->aged_ns >= SPOOL_POLICY_AGE_NS) {
		st->aged[0] = st->aged[1];
		st->aged[1] = s->end;
		st->aged_ns = now_ns;
	}
	return !up || s->free_count < s->blocks / 2 ? s->end : st->aged[0];
}

static bool hand_over(struct spool_policy *st, uint64_t below)
{
	struct store *s = &st->deliver->store;
	bool some = false;

	/* What came back from a slot, as it could not be written, is in memory only. Where nothing
	 * is in a slot, nothing behind it is in the file either. */
	if (spool_is_idle(st->spool) && spool_written(st->spool) < st->handed)
		st->handed = spool_written(st->spool);
	if (st->handed < s->lowest)
		st->handed = s->lowest;
	for (; st->handed < below; st->handed++, some = true) {
		const struct store_combo *c = store_get(s, st->handed);
		struct spool_slot *slot = c ? slot_for(st, st->handed, c->first, c->frames, c->len)
					    : NULL;

		if (!slot)
			break;
		store_read(s, c, 0, c->len, slot->bytes);
		spool_put(st->spool);
	}
	return some;
}

void spool_policy_totals(struct spool_policy *st, const uint8_t *message, size_t len)
{
	struct spool_slot *slot = spool_slot(st->spool);

	if (!slot)
		return;
	*slot = (struct spool_slot){ .kind = SPOOL_TOTALS, .count = st->end, .len = len };
	memcpy(slot->bytes, message, len);
	spool_put(st->spool);
}

/* ---- back ------------------------------------------------------------------------------------ */

/* In the place of one that cannot be read any more: the collector counts it as missing. */
static bool put_lost(struct spool_policy *st)
{
	static const uint8_t nothing[1];

	return deliver_put(st->deliver, nothing, sizeof(nothing), st->deliver->kept_first, 0);
}

/* Returns whether one waits for room. */
static bool take_back(struct spool_policy *st)
{
	struct deliver *d = st->deliver;
	const struct spool_reader *r;

	while (is_behind(st) && (r = spool_read(st->spool, d->store.end))) {
		if (r->state == SPOOL_LOST
			    ? !put_lost(st)
			    : !deliver_put(d, r->r.data, r->r.len, r->r.first, r->r.frames))
			return true;
		spool_read_done(&st->spool->ours);
	}
	return false;
}

bool spool_policy_turn(struct spool_policy *st, bool up, uint64_t now_ns)
{
	bool some;

	if (!st->spool)
		return false;
	take_back(st);
	some = hand_over(st, due_below(st, up, now_ns));
	spool_settle(st->spool, st->deliver->store.lowest);
	return some;
}

bool spool_policy_is_full(struct spool_policy *st)
{
	uint64_t until;

	if (!st->spool)
		return true;
	if (spool_policy_works(st))
		return false; /* it will be written at once */
	until = __atomic_load_n(&st->spool->full_until, __ATOMIC_ACQUIRE);
	spool_settle(st->spool, st->deliver->store.lowest);
	if (until && st->deliver->store.lowest >= until)
		return false; /* the thread sees to it */
	return !is_behind(st) || take_back(st);
}

bool spool_policy_is_whole(const struct spool_policy *st)
{
	return spool_policy_has(st, st->end - 1) || st->deliver->store.lowest == st->end;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Frames of the run before the first combo that is not in the file. */
static uint64_t written_frames(const struct spool_policy *st, uint64_t exported)
{
	const struct spool *s = st->spool;
	const struct store_combo *c;

	if (s->written >= st->end || st->deliver->store.lowest == st->end)
		return exported;
	c = store_get(&st->deliver->store, s->written);
	if (c)
		return c->first;
	for (unsigned int i = s->taken; i != s->put; i++)
		if (s->slots[i % SPOOL_SLOTS].kind == SPOOL_COMBO)
			return s->slots[i % SPOOL_SLOTS].first;
	return st->deliver->kept_first;
}

uint64_t spool_policy_end(struct spool_policy *st, uint64_t exported, const uint8_t *totals,
			  size_t len, uint64_t *stay)
{
	uint64_t kept, lost;

	hand_over(st, st->deliver->store.end);
	spool_settle(st->spool, st->deliver->store.lowest);
	spool_stop(st->spool);
	kept = written_frames(st, exported);
	if (kept < st->deliver->kept_first)
		kept = st->deliver->kept_first;
	lost = exported > kept ? exported - kept : 0;
	*stay = store_is_empty(&st->deliver->store) && !is_behind(st)
			? 0
			: kept - st->deliver->kept_first;
	if (*stay)
		spool_finish(st->spool, totals, len, st->end);
	return lost;
}
