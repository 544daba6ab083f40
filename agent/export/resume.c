// SPDX-License-Identifier: GPL-2.0
/*
 * Resume: see resume.h. In: the journal, and the ring of an earlier agent. Out: the first combo.
 * Always holds: a combo is sent again with the same frames under the same number, whatever this
 * agent's options are. Events that were not exported are lost with the earlier agent.
 */
#include "resume.h"

#include <errno.h>
#include <inttypes.h>

#include "agent/capture/fill.h"
#include "common/log.h"

/* Reads the frames up to the journal's positions, into `c` unless it is NULL, as far as they fit.
 * Returns their number. */
static uint64_t resume_frames(struct exporter *e, struct combo *c)
{
	struct source_frame f;
	uint64_t frames = 0;

	e->source->ops->limit(e->source, e->journal.shared->ends);
	while (e->source->ops->next(e->source, &f) == 1) {
		if (fill_is_event(&f.frame))
			continue; /* the journal counts only frames */
		if (c && c->frames == frames && combo_fits(c, f.frame.kept_len)) {
			if (!frames)
				c->opened_ns = f.heard_ns;
			combo_append(c, &f.frame);
		}
		frames++;
	}
	e->source->ops->limit(e->source, NULL);
	return frames;
}

/* The ring is read up to the journal's positions. */
static void resume_end(struct exporter *e)
{
	e->source->ops->release(e->source, e->journal.shared->ends);
	journal_settle(&e->journal);
}

/* The earlier agent read several rings in another order, and in this order the frames exceed a
 * combo. The collector may have them: they count as sent, and it counts them as missing if it does
 * not. Or the combo had only events, which are lost with their agent: its number is used too. */
static void resume_pass(struct exporter *e, struct combo *c, uint64_t frames)
{
	if (frames)
		log_line("%" PRIu64 " frames that were being sent cannot be sent again", frames);
	combo_reset(c);
	e->counters.exported += frames;
	e->counters.next++;
	e->counters.combos++;
	journal_commit(&e->journal, &e->counters);
	resume_end(e);
}

/* Killed before the commit: the collector may have the combo, a part of it, or nothing. */
static int resume_pending(struct exporter *e)
{
	struct slot *s = queue_slot(e->queue);
	struct combo *c = &s->combo;
	size_t size = c->size;
	uint64_t frames;

	/* The memory is for the largest combo (sensor.c), whatever the current size. */
	c->size = e->queue->size;
	frames = resume_frames(e, c);
	c->size = size;
	if (frames != e->journal.shared->frames)
		return -EBADMSG;
	if (!frames || c->frames < frames) {
		resume_pass(e, c, frames);
		return 0;
	}
	e->source->ops->mark(e->source, true, s->ends);
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
	log_info("run %016" PRIx64 " goes on: an earlier agent has exported %" PRIu64
		 " frames of it",
		 (uint64_t)shared->run, (uint64_t)e->counters.exported);
	if (journal_state(&e->journal) == SALUKI_JOURNAL_PENDING) {
		err = resume_pending(e);
	} else if (journal_state(&e->journal) == SALUKI_JOURNAL_RELEASE) {
		resume_frames(e, NULL); /* exported, but their space is not free yet */
		resume_end(e);
	}
	if (err)
		log_line("the ring does not match its journal; run 'saluki detach', then start "
			 "again");
	return err;
}
