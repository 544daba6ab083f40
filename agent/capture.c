// SPDX-License-Identifier: GPL-2.0
/*
 * Capture thread. In: frames from a source. Out: combos in the queue, each closed when it is
 * full or `--combo-age` after its first frame was heard. Always holds: no frame taken from the
 * source is dropped here; when the queue is full the thread waits, the kernel's ring fills, and
 * what does not fit there is counted there. Allocates nothing.
 */
#include "capture.h"

#include <errno.h>

#include "agent/source/clock.h"

/* `with_last`: all that the source has given is in a combo. */
static void capture_push(struct capture *c, struct combo **combo, bool with_last)
{
	if (*combo && (*combo)->frames) {
		if (c->source->ops->mark)
			(*combo)->mark = c->source->ops->mark(c->source, with_last);
		queue_push(c->queue);
	}
	*combo = NULL;
}

/* The combo to append to; waits for the export thread to free one. */
static struct combo *capture_combo(struct capture *c)
{
	struct combo *combo;

	while (!(combo = queue_slot(c->queue)))
		queue_wait_slot(c->queue, SOURCE_POLL_MS);
	return combo;
}

static void capture_frame(struct capture *c, struct combo **combo, const struct source_frame *f,
			  uint64_t *ring_start)
{
	if (*combo && (*combo)->frames &&
	    (!combo_fits(*combo, f->frame.kept_len) ||
	     (c->ring_span_max && f->taken - *ring_start > c->ring_span_max)))
		capture_push(c, combo, false);
	if (!*combo)
		*combo = capture_combo(c);
	if ((*combo)->frames == 0) {
		(*combo)->opened_ns = f->heard_ns;
		*ring_start = f->taken;
	}
	combo_append(*combo, &f->frame);
}

/* Milliseconds until the open combo is old enough, rounded up; SOURCE_POLL_MS without one. */
static int capture_timeout_ms(const struct capture *c, const struct combo *combo)
{
	uint64_t now = monotonic_ns(), due;

	if (!combo || combo->frames == 0)
		return SOURCE_POLL_MS;
	due = combo->opened_ns + c->combo_age_ns;
	if (due <= now)
		return 0;
	due = (due - now + 999999) / 1000000;
	return due < SOURCE_POLL_MS ? (int)due : SOURCE_POLL_MS;
}

void *capture_thread(void *arg)
{
	struct capture *c = arg;
	struct combo *combo = NULL;
	struct source_frame f;
	uint64_t ring_start = 0;

	for (;;) {
		/* Read before the source is asked: what it had by then is taken. */
		bool stop = __atomic_load_n(&c->stop, __ATOMIC_ACQUIRE);
		int got = stop && !c->drain ? 0 : c->source->ops->next(c->source, &f);

		if (got == 1) {
			capture_frame(c, &combo, &f, &ring_start);
			continue;
		}
		if (got < 0 || stop) {
			c->failed = got < 0 && got != -ENODATA;
			break;
		}
		if (capture_timeout_ms(c, combo) == 0)
			capture_push(c, &combo, true);
		c->source->ops->wait(c->source, capture_timeout_ms(c, combo));
	}
	capture_push(c, &combo, true);
	queue_end(c->queue);
	return NULL;
}
