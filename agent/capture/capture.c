// SPDX-License-Identifier: GPL-2.0
/*
 * Capture thread. In: frames from a source. Out: combos in the queue, each closed when it is
 * full or `--combo-age` after its first frame was heard, with the dwells of radios amid them.
 * Always holds: no frame taken from the source is dropped here; when the queue is full the thread
 * waits, the kernel's ring fills, and what does not fit there is counted there. Allocates nothing.
 */
#include "capture.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <saluki/record.h>

#include "agent/source/clock.h"
#include "wire/module_event.h"

/* Whether there are modules, which say things amid the frames. */
#ifdef WITHOUT_BPF
#define MODULES false
#else
#define MODULES true
#endif

/* `with_last`: all that the source has given is in a combo. */
static void capture_push(struct capture *c, struct combo **combo, bool with_last)
{
	if (*combo && !combo_is_empty(*combo)) {
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
	if (*combo && !combo_is_empty(*combo) &&
	    (!combo_fits(*combo, f->frame.kept_len) ||
	     (c->ring_span_max && (*combo)->frames && f->taken - *ring_start > c->ring_span_max)))
		capture_push(c, combo, false);
	if (!*combo)
		*combo = capture_combo(c);
	if (combo_is_empty(*combo))
		(*combo)->opened_ns = f->heard_ns;
	if ((*combo)->frames == 0)
		*ring_start = f->taken;
	combo_append(*combo, &f->frame);
}

/* What a module has said of the frame in front of it. Its ring space is that of the combo it is in.
 */
static __attribute__((cold)) void capture_said(struct capture *c, struct combo **combo,
					       const struct source_frame *f)
{
	const struct saluki_event *e = (const void *)f->frame.data;
	uint32_t head = offsetof(struct saluki_event, bytes);
	struct module_event s = { .interface = f->frame.interface,
				  .direction = f->frame.direction,
				  .time_ns = f->frame.time_ns };
	uint8_t bytes[MODULE_EVENT_ENCODED_MAX];
	size_t len;

	if (f->frame.kept_len < head || f->frame.kept_len > sizeof(*e))
		return; /* not by any program of ours */
	s.serial = e->serial;
	s.len = f->frame.kept_len - head;
	memcpy(s.name, e->name, sizeof(s.name) - 1);
	memcpy(s.bytes, e->bytes, s.len);
	len = module_event_write(bytes, &s);
	if (*combo && !combo_event_fits(*combo, len))
		capture_push(c, combo, false);
	if (!*combo)
		*combo = capture_combo(c);
	if (combo_is_empty(*combo))
		(*combo)->opened_ns = f->heard_ns;
	combo_event(*combo, COMBO_EVENT_SAID, bytes, len);
}

/* Dwells that had ended by `until_ns` come behind the frames so far. Where the export thread has no
 * combo free they wait, as frames do, in their own ring; at the end (`waits`) for one. `with_last`
 * as in capture_push. */
static __attribute__((cold)) void capture_dwells(struct capture *c, struct combo **combo,
						 uint64_t until_ns, bool with_last, bool waits)
{
	const struct dwell *d;
	uint8_t bytes[DWELL_MAX];

	while (c->dwells && (d = dwells_front(c->dwells, until_ns))) {
		size_t len = dwell_write(bytes, d);

		if (*combo && !combo_event_fits(*combo, len))
			capture_push(c, combo, with_last);
		if (!*combo)
			*combo = waits ? capture_combo(c) : queue_slot(c->queue);
		if (!*combo)
			return;
		if (combo_is_empty(*combo))
			(*combo)->opened_ns = monotonic_ns();
		combo_event(*combo, COMBO_EVENT_DWELL, bytes, len);
		dwells_pop(c->dwells);
	}
}

/* Milliseconds until the open combo is old enough, rounded up; SOURCE_POLL_MS without one. */
static int capture_timeout_ms(const struct capture *c, const struct combo *combo)
{
	uint64_t now = monotonic_ns(), due;

	if (!combo || combo_is_empty(combo))
		return SOURCE_POLL_MS;
	due = combo->opened_ns + c->combo_age_ns;
	if (due <= now)
		return 0;
	due = (due - now + 999999) / 1000000;
	return due < SOURCE_POLL_MS ? (int)due : SOURCE_POLL_MS;
}

/* Of radios that change channel: a frame heard meanwhile is marked. */
static void capture_sampled(struct capture *c, struct combo **combo, struct source_frame *f)
{
	capture_dwells(c, combo, f->heard_ns, false, false);
	if (dwells_unsettled(c->dwells, f->frame.interface, f->heard_ns))
		f->frame.direction |= SALUKI_UNSETTLED;
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
			if (MODULES && f.frame.linktype == SALUKI_LINKTYPE_EVENT) {
				capture_said(c, &combo, &f);
				continue;
			}
			if (c->dwells)
				capture_sampled(c, &combo, &f);
			capture_frame(c, &combo, &f, &ring_start);
			continue;
		}
		if (got < 0 || stop) {
			c->failed = got < 0 && got != -ENODATA;
			break;
		}
		capture_dwells(c, &combo, UINT64_MAX, true, false);
		if (capture_timeout_ms(c, combo) == 0)
			capture_push(c, &combo, true);
		c->source->ops->wait(c->source, capture_timeout_ms(c, combo));
	}
	capture_dwells(c, &combo, UINT64_MAX, true, true);
	capture_push(c, &combo, true);
	queue_end(c->queue);
	return NULL;
}
