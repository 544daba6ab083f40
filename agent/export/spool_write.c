// SPDX-License-Identifier: GPL-2.0
/*
 * Spool, into the file: see spool.h. In: slots, what is settled. Out: records, one segment after
 * the other. Always holds: a segment is erased when all of it is settled or given up, and a file
 * with nothing in it is empty. Spool thread.
 */
#include "spool.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "agent/capture/queue.h"
#include "common/log.h"

/* ---- segments -------------------------------------------------------------------------------- */

static void segment_free(struct spool *s, int i)
{
	spool_head_erase(&s->file, i);
	s->segments[i].use = SEGMENT_FREE;
	if (s->writing == i)
		s->writing = -1;
	__atomic_store_n(&s->used, s->used - 1, __ATOMIC_RELAXED);
	if (s->used)
		return;
	if (ftruncate(s->file.fd, 0) == 0)
		s->begun = false;
}

static bool is_over(const struct spool *s, const struct spool_segment *g)
{
	if (g->use == SEGMENT_OLD)
		return __atomic_load_n(&s->groups[g->group].done, __ATOMIC_ACQUIRE);
	return g->use == SEGMENT_OURS && g->last < __atomic_load_n(&s->floor, __ATOMIC_ACQUIRE);
}

void spool_free_settled(struct spool *s)
{
	for (int i = 0; i < SPOOL_SEGMENTS; i++)
		if (is_over(s, &s->segments[i]))
			segment_free(s, i);
}

int spool_oldest(const struct spool *s, int use, uint64_t group, uint64_t from)
{
	int oldest = -1;

	for (int i = 0; i < SPOOL_SEGMENTS; i++) {
		const struct spool_segment *g = &s->segments[i];

		if (g->use == use && (group == SPOOL_ANY_GROUP || g->group == group) &&
		    g->head.order >= from &&
		    (oldest < 0 || g->head.order < s->segments[oldest].head.order))
			oldest = i;
	}
	return oldest;
}

/* Those of an earlier process are the oldest, and give way first. Of ours, the export thread has to
 * give up what is in them. Returns a free segment, or -1. */
static int segment_take(struct spool *s)
{
	int old, ours;

	for (int i = 0; i < SPOOL_SEGMENTS; i++)
		if (s->segments[i].use == SEGMENT_FREE)
			return i;
	old = spool_oldest(s, SEGMENT_OLD, SPOOL_ANY_GROUP, 0);
	if (old >= 0) {
		log_line("--spool %s: full; the oldest combos of an earlier process are given up",
			 s->path);
		segment_free(s, old);
		return old;
	}
	ours = spool_oldest(s, SEGMENT_OURS, SPOOL_ANY_GROUP, 0);
	__atomic_store_n(&s->full_until, s->segments[ours].last + 1, __ATOMIC_RELEASE);
	return -1;
}

static int segment_begin(struct spool *s, uint64_t count)
{
	struct spool_segment *g;
	int err = 0, i = segment_take(s);

	if (i < 0)
		return -EDQUOT;
	g = &s->segments[i];
	g->head = s->head;
	g->head.order = s->order++;
	randombytes_buf(&g->head.stamp, sizeof(g->head.stamp));
	g->first = count;
	g->last = count ? count - 1 : 0; /* until there is a combo */
	if (!s->begun)
		err = spool_file_write(&s->file);
	err = err ?: spool_head_write(&s->file, i, &g->head);
	s->begun |= !err;
	if (err)
		return err;
	g->use = SEGMENT_OURS;
	__atomic_store_n(&s->used, s->used + 1, __ATOMIC_RELAXED);
	s->writing = i;
	s->write_at = SPOOL_SEGMENT_HEAD;
	s->info_due = true;
	return 0;
}

/* ---- records --------------------------------------------------------------------------------- */

static int write_info(struct spool *s)
{
	struct spool_record r = { .kind = SPOOL_INFO,
				  .len = s->info.len,
				  .data = (const uint8_t *)s->info.text };
	int err = spool_record_write(&s->file, s->writing, &s->segments[s->writing].head,
				     &s->write_at, &r);

	s->info_due = err != 0;
	return err;
}

/* A segment with room for a record of `len` bytes, and with the info that it is of. Uses the file's
 * buffer. */
static int make_room(struct spool *s, uint64_t count, size_t len)
{
	uint64_t need = SPOOL_RECORD_HEAD + len;
	int err = 0;

	if (s->info_due)
		need += SPOOL_RECORD_HEAD + s->info.len;
	if (s->writing < 0 || s->write_at + need > s->file.segment_bytes) {
		s->writing = -1;
		err = segment_begin(s, count);
	}
	return err || !s->info_due ? err : write_info(s);
}

int spool_write_record(struct spool *s, const struct spool_record *r)
{
	int err = make_room(s, r->count, r->len);
	struct spool_segment *g = &s->segments[s->writing < 0 ? 0 : s->writing];

	err = err ?: spool_record_write(&s->file, s->writing, &g->head, &s->write_at, r);
	if (!err && r->kind == SPOOL_COMBO)
		g->last = r->count;
	return err;
}

static int write_slot(struct spool *s, const struct spool_slot *slot)
{
	int err = make_room(s, slot->count, slot->len + SPOOL_RECORD_OVERHEAD);
	uint8_t *data = s->file.buffer + SPOOL_RECORD_HEAD;
	struct spool_record r = { .kind = slot->kind,
				  .count = slot->count,
				  .first = slot->first,
				  .frames = slot->frames,
				  .len = slot->len,
				  .data = data };

	if (err)
		return err;
	if (slot->kind == SPOOL_COMBO)
		r.len = spool_seal(data, s->key, s->head.run, slot->count, slot->bytes, slot->len);
	else
		memcpy(data, slot->bytes, slot->len);
	return spool_write_record(s, &r);
}

/* Whatever the disk does, combos behind it may have to go back to memory: an info is written ahead
 * of the next record, and the next totals are as good as these. */
static bool is_passed(const struct spool *s, const struct spool_slot *slot, uint64_t now_ns)
{
	return slot->kind == SPOOL_INFO ||
	       (slot->kind == SPOOL_TOTALS && s->failing && now_ns < s->retry_ns);
}

static void take_info(struct spool *s, const struct spool_slot *slot)
{
	s->info.len = slot->len;
	memcpy(s->info.text, slot->bytes, slot->len);
	s->info_due = true;
}

static void slot_done(struct spool *s, const struct spool_slot *slot)
{
	if (slot->kind == SPOOL_COMBO)
		__atomic_store_n(&s->written, slot->count + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&s->taken, s->taken + 1, __ATOMIC_RELEASE);
	event_signal(s->session->changed_fd);
}

static void write_failed(struct spool *s, int err, uint64_t now_ns)
{
	if (!s->told)
		log_line("--spool %s: %s; what waits is kept in memory only, until it can be "
			 "written",
			 s->path,
			 err == -EDQUOT ? "has --spool-bytes; the oldest combos are given up where "
					  "others need their room"
					: strerror(-err));
	s->told = true;
	s->retry_ns = now_ns + SPOOL_RETRY_MS * 1000000ULL;
	__atomic_store_n(&s->failing, true, __ATOMIC_RELEASE);
	event_signal(s->session->changed_fd);
}

bool spool_write_next(struct spool *s, uint64_t now_ns)
{
	const struct spool_slot *slot = spool_next_slot(s);
	bool settled = slot && slot->kind == SPOOL_COMBO &&
		       slot->count < __atomic_load_n(&s->floor, __ATOMIC_ACQUIRE);
	int err;

	if (slot && is_passed(s, slot, now_ns)) {
		if (slot->kind == SPOOL_INFO)
			take_info(s, slot);
		slot_done(s, slot);
		return true;
	}
	if (!slot || (!settled && s->failing && now_ns < s->retry_ns))
		return false;
	err = settled ? 0 : write_slot(s, slot);
	if (err) {
		write_failed(s, err, now_ns);
		return false;
	}
	if (!settled) {
		__atomic_store_n(&s->full_until, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&s->failing, false, __ATOMIC_RELEASE);
	}
	slot_done(s, slot);
	return true;
}
