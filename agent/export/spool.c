// SPDX-License-Identifier: GPL-2.0
/*
 * Spool, the export thread's half: see spool.h. In: combos, settled counts. Out: slots for the
 * spool thread, combos back in the store. Always holds: a combo at or above store.end is in a slot
 * or in the file, so that combos are sent in order. Allocates nothing.
 */
#include "spool.h"

#include <string.h>

#include "agent/capture/queue.h"
#include "common/log.h"

/* A combo that is settled sooner is not written. An unsettled one is, after at most twice this. */
#define AGE_NS 1000000000ULL

static bool is_behind(const struct spool *s)
{
	return s->end > s->deliver->store.end;
}

/* ---- there ----------------------------------------------------------------------------------- */

uint8_t *spool_slot(struct spool *s, uint64_t count)
{
	if (count < spool_written(s) + SPOOL_SLOTS)
		return s->slots[count % SPOOL_SLOTS].bytes;
	event_signal(s->work_fd); /* it may have to skip settled combos */
	return NULL;
}

void spool_put(struct spool *s, uint64_t count, uint64_t first, uint32_t frames, uint32_t len)
{
	struct spool_slot *slot = &s->slots[count % SPOOL_SLOTS];

	slot->r = (struct spool_record){ .kind = SPOOL_COMBO,
					 .count = count,
					 .first = first,
					 .frames = frames,
					 .len = len,
					 .data = slot->bytes };
	__atomic_store_n(&s->handed, count + 1, __ATOMIC_RELEASE);
	event_signal(s->work_fd);
}

void spool_settle(struct spool *s, uint64_t floor)
{
	if (floor == s->floor)
		return;
	__atomic_store_n(&s->floor, floor, __ATOMIC_RELEASE);
	if (__atomic_load_n(&s->used, __ATOMIC_RELAXED))
		event_signal(s->work_fd);
}

/* Takes a new info for the combos from now on. One at a time: the next one waits until the spool
 * thread has taken this one. */
static void look_for_info(struct spool *s)
{
	if (__atomic_load_n(&s->change.len, __ATOMIC_ACQUIRE) ||
	    !session_lasting(s->session, &s->info_next))
		return;
	s->change.count = s->end;
	__atomic_store_n(&s->change.len, s->info_next.len, __ATOMIC_RELEASE);
}

bool spool_keep(struct spool *s, const uint8_t *wire, size_t len, uint64_t first, uint32_t frames,
		bool spill)
{
	uint8_t *room;

	look_for_info(s);
	if (!is_behind(s) && deliver_put(s->deliver, wire, len, first, frames)) {
		s->end = s->deliver->store.end;
		return true;
	}
	/* Earlier ones go first. */
	if (!spill || !spool_works(s) || s->handed < s->end)
		return false;
	room = spool_slot(s, s->end);
	if (!room)
		return false;
	memcpy(room, wire, len);
	spool_put(s, s->end++, first, frames, len);
	return true;
}

/* If memory is short, young combos too. */
static uint64_t due_below(struct spool *s, bool up, uint64_t now_ns)
{
	const struct store *st = &s->deliver->store;

	if (now_ns - s->aged_ns >= AGE_NS) {
		s->aged[0] = s->aged[1];
		s->aged[1] = st->end;
		s->aged_ns = now_ns;
	}
	return !up || st->free_count < st->blocks / 2 ? st->end : s->aged[0];
}

/* Settled combos are skipped. The spool thread learns this first. */
static bool hand_over(struct spool *s, uint64_t below)
{
	const struct store *st = &s->deliver->store;
	bool some = false;

	spool_settle(s, st->lowest);
	if (s->handed < st->lowest)
		__atomic_store_n(&s->handed, st->lowest, __ATOMIC_RELEASE);
	for (; s->handed < below; some = true) {
		const struct store_combo *c = store_get(st, s->handed);
		uint8_t *room = spool_slot(s, s->handed);

		if (!room)
			break;
		store_read(st, c, 0, c->len, room);
		spool_put(s, s->handed, c->first, c->frames, c->len);
	}
	return some;
}

void spool_totals(struct spool *s, const uint8_t *message, size_t len)
{
	if (__atomic_load_n(&s->totals.len, __ATOMIC_ACQUIRE))
		return;
	s->totals.count = s->handed;
	memcpy(s->totals_bytes, message, len);
	__atomic_store_n(&s->totals.len, len, __ATOMIC_RELEASE);
	event_signal(s->work_fd);
}

/* ---- back ------------------------------------------------------------------------------------ */

const struct spool_reader *spool_read(struct spool *s, struct spool_reader *r, uint32_t group,
				      uint64_t want)
{
	unsigned int state = __atomic_load_n(&r->state, __ATOMIC_ACQUIRE);

	if (state == SPOOL_WANTED)
		return NULL;
	if (state != SPOOL_IDLE && r->group == group)
		return r;
	if (r->group != group)
		r->order = r->want = 0;
	r->group = group;
	if (r->want < want)
		r->want = want;
	__atomic_store_n(&r->state, SPOOL_WANTED, __ATOMIC_RELEASE);
	event_signal(s->work_fd);
	return NULL;
}

void spool_read_done(struct spool_reader *r)
{
	__atomic_store_n(&r->state, SPOOL_IDLE, __ATOMIC_RELEASE);
}

/* Takes combos back: from their slots, as they may not be written for long, or from the file.
 * Returns whether one waits for room. */
static bool take_back(struct spool *s)
{
	static const uint8_t nothing[1];
	struct deliver *d = s->deliver;

	while (is_behind(s)) {
		struct spool_record r = s->slots[d->store.end % SPOOL_SLOTS].r;
		const struct spool_reader *reader = NULL;

		if (r.count != d->store.end) {
			reader = spool_read(s, &s->ours, SPOOL_OURS, d->store.end);
			if (!reader)
				return false;
			r = reader->r;
		}
		/* In place of an unreadable combo: the collector counts it as missing. */
		if (reader && reader->state == SPOOL_NONE)
			r = (struct spool_record){ .first = d->kept_first,
						   .len = 1,
						   .data = nothing };
		if (!deliver_put(d, r.data, r.len, r.first, r.frames))
			return true;
		if (reader)
			spool_read_done(&s->ours);
	}
	return false;
}

bool spool_turn(struct spool *s, bool up, uint64_t now_ns)
{
	take_back(s);
	return hand_over(s, due_below(s, up, now_ns));
}

bool spool_is_full(struct spool *s)
{
	uint64_t until = __atomic_load_n(&s->stuck_until, __ATOMIC_ACQUIRE);

	if (until == SPOOL_WORKS)
		return false; /* it will be written at once */
	spool_settle(s, s->deliver->store.lowest);
	if (s->deliver->store.lowest >= until)
		return false; /* the thread does it */
	return !is_behind(s) || take_back(s);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Returns the frames of the run before the first combo that is not in the file. */
static uint64_t written_frames(const struct spool *s, uint64_t exported)
{
	const struct deliver *d = s->deliver;
	const struct store_combo *c = store_get(&d->store, s->written);
	const struct spool_record *slot = &s->slots[s->written % SPOOL_SLOTS].r;

	if (s->written >= s->end || d->store.lowest == s->end)
		return exported;
	if (c)
		return c->first;
	return slot->count == s->written ? slot->first : d->kept_first;
}

uint64_t spool_end(struct spool *s, uint64_t exported, const uint8_t *totals, size_t len,
		   uint64_t *stay)
{
	const struct spool_record last = {
		.kind = SPOOL_TOTALS, .count = s->end, .len = len, .data = totals
	};
	const struct deliver *d = s->deliver;
	uint64_t kept, lost;

	hand_over(s, d->store.end);
	spool_stop(s);
	kept = written_frames(s, exported);
	if (kept < d->kept_first)
		kept = d->kept_first;
	lost = exported > kept ? exported - kept : 0;
	*stay = store_is_empty(&d->store) && !is_behind(s) ? 0 : kept - d->kept_first;
	if (*stay && spool_append(s, &last))
		log_line("--spool %s: the last totals could not be written", s->path);
	return lost;
}
