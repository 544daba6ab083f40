// SPDX-License-Identifier: GPL-2.0
/*
 * Spool, writing: see spool.h. In: slots, settled counts. Out: records, one segment after the
 * other. Always holds: a segment is erased when all of it is settled or dropped, and an unused file
 * is empty. The spool thread starts here.
 */
#include "spool.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "agent/capture/queue.h"
#include "agent/source/clock.h"
#include "common/log.h"

#define NEVER_MS (-1)
#define RETRY_MS 1000 /* between tries of a failed write */

/* ---- segments -------------------------------------------------------------------------------- */

static void segment_free(struct spool *s, int i)
{
	spool_head_erase(&s->file, i);
	s->segments[i].group = SPOOL_FREE;
	if (s->writing == i)
		s->writing = -1;
	__atomic_store_n(&s->used, s->used - 1, __ATOMIC_RELAXED);
	if (!s->used && ftruncate(s->file.fd, 0))
		return; /* the file works, but keeps its length */
}

static bool is_over(const struct spool *s, const struct spool_segment *g)
{
	if (g->group == SPOOL_OURS)
		return g->end <= __atomic_load_n(&s->floor, __ATOMIC_ACQUIRE);
	return g->group != SPOOL_FREE &&
	       __atomic_load_n(&s->groups[g->group - 1].done, __ATOMIC_ACQUIRE);
}

static void free_settled(struct spool *s)
{
	for (int i = 0; i < SPOOL_SEGMENTS; i++)
		if (is_over(s, &s->segments[i]))
			segment_free(s, i);
}

int spool_oldest(const struct spool *s, uint32_t group, uint64_t from, uint64_t want)
{
	int oldest = -1;

	for (int i = 0; i < SPOOL_SEGMENTS; i++) {
		const struct spool_segment *g = &s->segments[i];

		if (g->group == group && g->head.order >= from && g->end > want &&
		    (oldest < 0 || g->head.order < s->segments[oldest].head.order))
			oldest = i;
	}
	return oldest;
}

/* Erases the oldest segment if necessary, first those of earlier processes. Of our own, the export
 * thread must drop the combos first. Returns a free segment, or -1. */
static int segment_take(struct spool *s)
{
	int oldest = 0;

	for (int i = 0; i < SPOOL_SEGMENTS; i++) {
		if (s->segments[i].group == SPOOL_FREE)
			return i;
		if (s->segments[i].head.order < s->segments[oldest].head.order)
			oldest = i;
	}
	if (s->segments[oldest].group == SPOOL_OURS) {
		__atomic_store_n(&s->full_until, s->segments[oldest].end, __ATOMIC_RELEASE);
		return -1;
	}
	log_line("--spool %s: full; the oldest combos of an earlier process are given up", s->path);
	segment_free(s, oldest);
	return oldest;
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
	g->end = count;
	if (!s->used)
		err = spool_file_write(&s->file);
	err = err ?: spool_head_write(&s->file, i, &g->head);
	if (err)
		return err;
	g->group = SPOOL_OURS;
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

/* Finds a segment with room for a record of `len` bytes, and writes its info if needed. */
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
		g->end = r->count + 1;
	return err;
}

static int write_combo(struct spool *s, const struct spool_slot *slot)
{
	struct spool_record r = slot->r;
	int err;

	if (r.count >= __atomic_load_n(&s->info_from, __ATOMIC_ACQUIRE)) {
		s->info = s->info_next;
		s->info_due = true;
		__atomic_store_n(&s->info_from, SPOOL_NO_INFO, __ATOMIC_RELEASE);
	}
	err = make_room(s, r.count, r.len + SPOOL_RECORD_OVERHEAD);
	if (err)
		return err;
	r.data = s->file.data;
	r.len = spool_seal(s->file.data, s->key, s->head.run, r.count, slot->bytes, r.len);
	return spool_write_record(s, &r);
}

static void set_written(struct spool *s, uint64_t count)
{
	__atomic_store_n(&s->written, count, __ATOMIC_RELEASE);
	event_signal(s->session->changed_fd);
}

static int write_totals(struct spool *s)
{
	struct spool_record r = { .kind = SPOOL_TOTALS,
				  .count = s->totals_count,
				  .len = s->totals_len,
				  .data = s->totals };
	int err = spool_write_record(s, &r);

	if (!err)
		__atomic_store_n(&s->totals_len, 0, __ATOMIC_RELEASE);
	return err;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void write_failed(struct spool *s, int err, uint64_t now_ns)
{
	if (!s->failing)
		log_line("--spool %s: %s; what waits is kept in memory only, until it can be "
			 "written",
			 s->path,
			 err == -EDQUOT ? "has --spool-bytes; the oldest combos are given up where "
					  "others need their room"
					: strerror(-err));
	s->retry_ns = now_ns + RETRY_MS * 1000000ULL;
	__atomic_store_n(&s->failing, true, __ATOMIC_RELEASE);
	event_signal(s->session->changed_fd);
}

static void write_works(struct spool *s)
{
	if (!s->failing)
		return;
	log_line("--spool %s: writing again", s->path);
	__atomic_store_n(&s->full_until, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&s->failing, false, __ATOMIC_RELEASE);
}

/* Writes the next combo, or skips settled ones. Totals follow their combos. Returns whether there
 * may be more to do. */
static bool write_next(struct spool *s, uint64_t now_ns)
{
	uint64_t handed = __atomic_load_n(&s->handed, __ATOMIC_ACQUIRE); /* before the floor */
	uint64_t floor = __atomic_load_n(&s->floor, __ATOMIC_ACQUIRE);
	bool combo = s->written < handed;
	bool totals = __atomic_load_n(&s->totals_len, __ATOMIC_ACQUIRE) &&
		      s->written >= s->totals_count;
	int err;

	if (combo && s->written < floor) {
		set_written(s, floor < handed ? floor : handed);
		return true;
	}
	if ((!combo && !totals) || (s->failing && now_ns < s->retry_ns))
		return false;
	err = totals ? write_totals(s) : write_combo(s, &s->slots[s->written % SPOOL_SLOTS]);
	if (err) {
		write_failed(s, err, now_ns);
		return false;
	}
	write_works(s);
	if (!totals)
		set_written(s, s->written + 1);
	return true;
}

static void *spool_thread(void *arg)
{
	struct spool *s = arg;

	pthread_setname_np(pthread_self(), "spool");
	for (;;) {
		bool stop = __atomic_load_n(&s->stop, __ATOMIC_ACQUIRE), again;

		free_settled(s);
		again = write_next(s, monotonic_ns());
		again |= spool_answer(s, &s->ours);
		again |= spool_answer(s, &s->old);
		if (again)
			continue;
		if (stop)
			return NULL;
		event_wait(s->work_fd, s->failing ? RETRY_MS : NEVER_MS);
	}
}

int spool_start(struct spool *s)
{
	return -pthread_create(&s->thread, NULL, spool_thread, s);
}

void spool_stop(struct spool *s)
{
	__atomic_store_n(&s->stop, true, __ATOMIC_RELEASE);
	event_signal(s->work_fd);
	pthread_join(s->thread, NULL);
}
