// SPDX-License-Identifier: GPL-2.0
/*
 * Spool, out of the file: see spool.h. In: which combo is wanted, or which group's next record.
 * Out: that, or that it is not to be had. Always holds: what is read stays with its reader until
 * that is made free, whatever becomes of its segment. Spool thread.
 */
#include "spool.h"

#include <errno.h>
#include <string.h>

#include "agent/capture/queue.h"
#include "common/log.h"

static void answer(struct spool *s, struct spool_reader *r, unsigned int state)
{
	__atomic_store_n(&r->state, state, __ATOMIC_RELEASE);
	event_signal(s->session->changed_fd);
}

/* ---- ours ------------------------------------------------------------------------------------ */

/* What could not be written goes back to memory as it is. */
static bool read_slot(struct spool *s, struct spool_reader *r)
{
	const struct spool_slot *slot = spool_next_slot(s);

	if (!slot || !s->failing || slot->kind != SPOOL_COMBO || slot->count != r->want)
		return false;
	r->r = (struct spool_record){
		.count = slot->count, .first = slot->first, .frames = slot->frames, .len = slot->len
	};
	r->r.data = memcpy(r->bytes, slot->bytes, slot->len);
	__atomic_store_n(&s->taken, s->taken + 1, __ATOMIC_RELEASE);
	answer(s, r, SPOOL_READY);
	return true;
}

static int segment_with(const struct spool *s, uint64_t count)
{
	for (int i = 0; i < SPOOL_SEGMENTS; i++) {
		const struct spool_segment *g = &s->segments[i];

		if (g->use == SEGMENT_OURS && g->first <= count && count <= g->last)
			return i;
	}
	return -1;
}

static int find_count(struct spool *s, struct spool_reader *r, int segment)
{
	int err;

	if (r->segment != segment || r->order != s->segments[segment].head.order ||
	    r->last >= r->want)
		r->at = SPOOL_SEGMENT_HEAD;
	r->segment = segment;
	r->order = s->segments[segment].head.order;
	do
		err = spool_record_read(&s->file, segment, &s->segments[segment].head, &r->at,
					&r->r);
	while (!err && (r->r.kind != SPOOL_COMBO || r->r.count < r->want));
	r->last = r->r.count;
	return err ?: r->r.count == r->want ? 0 : -EBADMSG;
}

bool spool_answer(struct spool *s)
{
	struct spool_reader *r = &s->ours;
	const uint8_t *combo = NULL;
	size_t len;
	int segment;

	if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != SPOOL_WANTED)
		return false;
	segment = segment_with(s, r->want);
	if (segment < 0)
		return read_slot(s, r);
	if (find_count(s, r, segment) == 0)
		combo = spool_open(r->bytes, &len, s->key, s->head.run, r->want, r->r.data,
				   r->r.len);
	if (!combo) {
		log_line("--spool %s: a combo cannot be read any more", s->path);
		r->last = UINT64_MAX;
		answer(s, r, SPOOL_LOST);
		return true;
	}
	r->r.data = combo;
	r->r.len = len;
	answer(s, r, SPOOL_READY);
	return true;
}

/* ---- an earlier process's -------------------------------------------------------------------- */

static int next_record(struct spool *s, struct spool_reader *r)
{
	const struct spool_segment *g = &s->segments[r->segment];
	int err = g->use == SEGMENT_OLD
			  ? spool_record_read(&s->file, r->segment, &g->head, &r->at, &r->r)
			  : -ENOENT; /* it gave way */

	if (!err && r->r.kind == SPOOL_COMBO) {
		if (r->last != UINT64_MAX && r->r.count <= r->last)
			return -EBADMSG;
		r->last = r->r.count;
	}
	return err;
}

bool spool_answer_old(struct spool *s)
{
	struct spool_reader *r = &s->old;

	if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != SPOOL_WANTED)
		return false;
	if (r->group != r->want) {
		r->group = r->want;
		r->segment = -1;
		r->order = 0;
		r->last = UINT64_MAX;
	}
	while (r->segment < 0 || next_record(s, r)) {
		r->segment = spool_oldest(s, SEGMENT_OLD, r->want, r->order);
		if (r->segment < 0) {
			answer(s, r, SPOOL_END);
			return true;
		}
		r->order = s->segments[r->segment].head.order + 1;
		r->at = SPOOL_SEGMENT_HEAD;
	}
	r->r.data = memcpy(r->bytes, r->r.data, r->r.len);
	answer(s, r, SPOOL_READY);
	return true;
}
