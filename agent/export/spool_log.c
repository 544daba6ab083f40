// SPDX-License-Identifier: GPL-2.0
/*
 * Spool log: see spool.h. In: records. Out: segments of the file, one after the other, and their
 * records in order. Always holds: our segments are younger than those of earlier processes, and an
 * unused file is empty. Spool thread.
 */
#include "spool.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

/* ---- segments -------------------------------------------------------------------------------- */

int spool_oldest(const struct spool *s, uint32_t group, uint64_t from, uint64_t want)
{
	int oldest = -1;

	for (int i = 0; i < SPOOL_SEGMENTS; i++) {
		const struct spool_segment *g = &s->segments[i];

		if ((g->group == group || group == SPOOL_ANY) && g->head.order >= from &&
		    g->end > want && (oldest < 0 || g->head.order < s->segments[oldest].head.order))
			oldest = i;
	}
	return oldest;
}

static void segment_free(struct spool *s, int i)
{
	spool_head_erase(&s->file, i);
	s->segments[i].group = SPOOL_FREE;
	s->segments[i].end = UINT64_MAX;
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

void spool_free_settled(struct spool *s)
{
	for (int i = 0; i < SPOOL_SEGMENTS; i++)
		if (is_over(s, &s->segments[i]))
			segment_free(s, i);
}

/* Erases the oldest segment if necessary: one of an earlier process, as they are older than ours.
 * The export thread must drop our own combos first. Returns a free segment, or -1. */
static int segment_take(struct spool *s)
{
	int i = 0;

	while (i < SPOOL_SEGMENTS && s->segments[i].group != SPOOL_FREE)
		i++;
	if (i < SPOOL_SEGMENTS)
		return i; /* the lowest: a file system without holes keeps a short file */
	i = spool_oldest(s, SPOOL_ANY, 0, 0);
	if (s->segments[i].group == SPOOL_OURS)
		return -1;
	log_line("--spool %s: full; the oldest combos of an earlier process are given up", s->path);
	segment_free(s, i);
	return i;
}

/* ---- append ---------------------------------------------------------------------------------- */

static int segment_append(struct spool *s, const struct spool_record *r)
{
	struct spool_segment *g = &s->segments[s->writing];
	int err = spool_record_write(&s->file, &g->head, &s->write_at, r);

	if (!err && r->kind == SPOOL_COMBO)
		g->end = r->count + 1;
	return err;
}

/* Begins a segment for a record with this count. The info comes first. */
static int segment_begin(struct spool *s, uint64_t count)
{
	struct spool_record info = { .kind = SPOOL_INFO,
				     .len = s->info.len,
				     .data = (const uint8_t *)s->info.text };
	struct spool_segment *g;
	int err;

	s->writing = segment_take(s);
	if (s->writing < 0)
		return -EDQUOT;
	g = &s->segments[s->writing];
	g->group = SPOOL_OURS;
	g->end = count;
	g->head = s->head;
	g->head.segment = s->writing;
	g->head.order = s->order++;
	randombytes_buf(&g->head.stamp, sizeof(g->head.stamp));
	s->write_at = SPOOL_SEGMENT_HEAD;
	__atomic_store_n(&s->used, s->used + 1, __ATOMIC_RELAXED);
	err = spool_head_write(&s->file, &g->head) ?: segment_append(s, &info);
	if (err)
		segment_free(s, s->writing);
	return err;
}

/* A collector has other keys: the next segment's head has the file's key wrapped for them. */
static void head_change(struct spool *s)
{
	pthread_mutex_lock(&s->session->lock);
	memcpy(s->head.ephemeral, s->head_next.ephemeral, sizeof(s->head.ephemeral));
	memcpy(s->head.peers, s->head_next.peers, sizeof(s->head.peers));
	__atomic_store_n(&s->head_changed, false, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&s->session->lock);
	s->writing = -1;
}

int spool_append(struct spool *s, const struct spool_record *record)
{
	struct spool_record r = *record;
	int err;

	if (__atomic_load_n(&s->head_changed, __ATOMIC_ACQUIRE))
		head_change(s);
	if (r.kind == SPOOL_INFO)
		s->info = s->info_next;
	if (r.kind == SPOOL_COMBO) { /* its slot keeps it unsealed */
		r.data = s->sealed;
		r.len = spool_seal(s->sealed, s->key, s->head.run, r.count, record->data, r.len);
	}
	err = s->writing < 0 ? -EFBIG : segment_append(s, &r);
	if (err != -EFBIG)
		return err;
	err = segment_begin(s, r.count);
	return err || r.kind == SPOOL_INFO ? err : segment_append(s, &r);
}

/* ---- read ------------------------------------------------------------------------------------ */

/* The reader's segment may have been erased since the last record. An unreadable record ends it. */
static bool next_in_segment(struct spool *s, struct spool_reader *r)
{
	const struct spool_segment *g = &s->segments[r->segment];

	return g->group == r->group && g->head.order < r->order && g->end > r->want &&
	       !spool_record_read(&s->file, &g->head, &r->at, &r->r, r->bytes);
}

int spool_next(struct spool *s, struct spool_reader *r)
{
	do {
		while (!next_in_segment(s, r)) {
			int i = spool_oldest(s, r->group, r->order, r->want);

			if (i < 0)
				return -ENOENT;
			r->segment = i;
			r->order = s->segments[i].head.order + 1;
			r->at = SPOOL_SEGMENT_HEAD;
		}
	} while (r->r.kind == SPOOL_COMBO && r->r.count < r->want);
	if (r->r.kind == SPOOL_COMBO)
		r->want = r->r.count + 1;
	return 0;
}
