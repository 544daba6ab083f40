// SPDX-License-Identifier: GPL-2.0
/*
 * Resume: see resume.h. In: the journal, and the ring as it was left. Out: the first combo. Always
 * holds: a combo goes out a second time with the same frames under the same number, however this
 * agent is set to make its own.
 */
#include "resume.h"

#include <errno.h>
#include <inttypes.h>

#include <saluki/log.h>

/* Reads the frames up to where the journal says; into `c` unless it is NULL. Returns how many, or
 * -EBADMSG where the ring does not hold what the journal promises. */
static int64_t resume_frames(struct exporter *e, struct combo *c)
{
	struct source_frame f;
	int64_t frames = 0;

	e->source->ops->limit(e->source, e->journal.shared->ends);
	while (e->source->ops->next(e->source, &f) == 1) {
		if (c && !combo_fits(c, f.frame.kept_len))
			return -EBADMSG;
		if (c && !c->frames)
			c->opened_ns = f.heard_ns;
		if (c)
			combo_append(c, &f.frame);
		frames++;
	}
	e->source->ops->limit(e->source, NULL);
	return frames;
}

/* Killed behind the commit: the frames are exported, their space is not free yet. */
static int resume_release(struct exporter *e)
{
	if (resume_frames(e, NULL) < 0)
		return -EBADMSG;
	e->source->ops->release(e->source, e->source->ops->mark(e->source));
	journal_settle(&e->journal);
	return 0;
}

/* Killed in front of it: the collector may have the combo, or a part of it, or nothing. */
static int resume_pending(struct exporter *e)
{
	struct combo *c = queue_slot(e->queue);
	size_t size = c->size;
	int64_t frames;

	/* The memory is for the larger one (sensor.c); in another order the frames may take a little
	 * more than they did. */
	c->size = e->queue->size;
	frames = resume_frames(e, c);
	c->size = size;
	if (frames < 0 || (uint64_t)frames != e->journal.shared->frames)
		return -EBADMSG;
	c->mark = e->source->ops->mark(e->source);
	queue_push(e->queue);
	return 0;
}

int resume(struct exporter *e)
{
	struct saluki_journal *shared = e->journal.shared;
	int err = 0;

	if (!shared->run) {
		shared->run = e->session->run;
		return 0;
	}
	e->session->run = shared->run;
	e->counters = *journal_done(&e->journal);
	log_line("run %016" PRIx64 " goes on: an earlier agent has exported %" PRIu64 " frames of it",
		 (uint64_t)shared->run, (uint64_t)e->counters.exported);
	if (journal_state(&e->journal) == SALUKI_JOURNAL_RELEASE)
		err = resume_release(e);
	else if (journal_state(&e->journal) == SALUKI_JOURNAL_PENDING)
		err = resume_pending(e);
	if (err)
		log_line("the ring does not hold what its journal says; 'saluki detach' makes an end "
			 "of both, then start again");
	return err;
}
