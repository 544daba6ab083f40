// SPDX-License-Identifier: GPL-2.0
/*
 * Spool, reading: see spool.h. In: the requested group or combo. Out: the record, or SPOOL_NONE.
 * Always holds: a record stays with its reader until the reader is freed, even if its segment is
 * erased. Spool thread.
 */
#include "spool.h"

#include <errno.h>
#include <string.h>

#include "agent/capture/queue.h"
#include "common/log.h"

void spool_rewind(struct spool_reader *r)
{
	r->segment = -1;
	r->order = r->next = 0;
}

/* Reads the record after the last one, in the same segment. Counts rise. */
static int next_in_segment(struct spool *s, struct spool_reader *r)
{
	const struct spool_segment *g = &s->segments[r->segment];
	int err;

	if (g->group != r->group || g->head.order >= r->order || g->end <= r->want)
		return -ENOENT; /* it was erased, or is done */
	err = spool_record_read(&s->file, r->segment, &g->head, &r->at, &r->r);
	if (err || r->r.kind != SPOOL_COMBO)
		return err;
	if (r->r.count < r->next)
		return -EBADMSG;
	r->next = r->r.count + 1;
	return 0;
}

/* An unreadable record ends its segment. Returns 0 or -ENOENT. */
static int next_record(struct spool *s, struct spool_reader *r)
{
	while (r->segment < 0 || next_in_segment(s, r)) {
		r->segment = spool_oldest(s, r->group, r->order, r->want);
		if (r->segment < 0)
			return -ENOENT;
		r->order = s->segments[r->segment].head.order + 1;
		r->at = SPOOL_SEGMENT_HEAD;
	}
	return 0;
}

/* Reads and opens the requested combo. If another one is in its place, it is lost. */
static int next_of_ours(struct spool *s, struct spool_reader *r)
{
	size_t len = 0;
	int err;

	do
		err = next_record(s, r);
	while (!err && (r->r.kind != SPOOL_COMBO || r->r.count < r->want));
	r->r.data =
		err ? NULL
		    : spool_open(r->bytes, &len, s->key, s->head.run, r->want, r->r.data, r->r.len);
	r->r.len = len;
	if (r->r.data)
		return 0;
	log_line("--spool %s: a combo cannot be read any more", s->path);
	spool_rewind(r);
	return -EBADMSG;
}

bool spool_answer(struct spool *s, struct spool_reader *r)
{
	int err;

	if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != SPOOL_WANTED)
		return false;
	err = r->group == SPOOL_OURS ? next_of_ours(s, r) : next_record(s, r);
	if (!err && r->group != SPOOL_OURS)
		r->r.data = memcpy(r->bytes, r->r.data, r->r.len);
	__atomic_store_n(&r->state, err ? SPOOL_NONE : SPOOL_READY, __ATOMIC_RELEASE);
	event_signal(s->session->changed_fd);
	return true;
}
