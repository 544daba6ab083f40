// SPDX-License-Identifier: GPL-2.0
/*
 * Capture thread. In: frames from a source. Out: combos in the queue, each closed when full or
 * `--combo-age` after its first frame, with radios' dwells between the frames. Always holds: no
 * frame taken from the source is dropped here. If the queue is full, the thread waits, and the
 * kernel's ring fills and counts its losses. Allocates nothing.
 */
#include "capture.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <saluki/record.h>

#include "agent/source/clock.h"
#include "wire/module_event.h"

/* Whether modules may send events between the frames. */
#ifdef WITHOUT_BPF
#define MODULES false
#else
#define MODULES true
#endif

void capture_init(struct capture *c, struct source *source, struct queue *queue,
		  const struct handover *h, uint32_t combo_age_ms)
{
	bool is_file = h->kind == HANDOVER_FILE;

	*c = (struct capture){
		.source = source,
		.queue = queue,
		.combo_age_ns = combo_age_ms * 1000000ULL,
		.ring_span_max = is_file ? 0 : h->ring_size / (2 * queue->len),
		.drain = !is_file && !h->persistent,
	};
}

/* `with_last`: all frames from the source are in a combo. */
static void capture_push(struct capture *c, bool with_last)
{
	if (c->open && !combo_is_empty(c->open)) {
		if (c->source->ops->mark)
			c->open->mark = c->source->ops->mark(c->source, with_last);
		queue_push(c->queue);
	}
	c->open = NULL;
}

/* Makes sure that a combo is open, for something that was heard at `heard_ns`. If the export thread
 * has none free, waits for one, or without `waits` returns false. */
static bool capture_open(struct capture *c, uint64_t heard_ns, bool waits)
{
	while (!c->open && !(c->open = queue_slot(c->queue))) {
		if (!waits)
			return false;
		queue_wait_slot(c->queue, SOURCE_POLL_MS);
	}
	if (combo_is_empty(c->open))
		c->open->opened_ns = heard_ns;
	return true;
}

static void capture_frame(struct capture *c, const struct source_frame *f)
{
	if (c->open && !combo_is_empty(c->open) &&
	    (!combo_fits(c->open, f->frame.kept_len) ||
	     (c->ring_span_max && c->open->frames && f->taken - c->ring_start > c->ring_span_max)))
		capture_push(c, false);
	capture_open(c, f->heard_ns, true);
	if (c->open->frames == 0)
		c->ring_start = f->taken;
	combo_append(c->open, &f->frame);
}

/* Appends a module's event about the frame before it. Its ring space belongs to its combo.
 */
static __attribute__((cold)) void capture_said(struct capture *c, const struct source_frame *f)
{
	const struct saluki_event *e = (const void *)f->frame.data;
	uint32_t head = offsetof(struct saluki_event, bytes);
	struct module_event s = { .interface = f->frame.interface,
				  .direction = f->frame.direction,
				  .time_ns = f->frame.time_ns };
	uint8_t bytes[MODULE_EVENT_ENCODED_MAX];
	size_t len;

	if (f->frame.kept_len < head || f->frame.kept_len > sizeof(*e))
		return; /* not written by our programs */
	s.serial = e->serial;
	s.len = f->frame.kept_len - head;
	memcpy(s.name, e->name, sizeof(s.name) - 1);
	memcpy(s.bytes, e->bytes, s.len);
	len = module_event_write(bytes, &s);
	if (c->open && !combo_event_fits(c->open, len))
		capture_push(c, false);
	capture_open(c, f->heard_ns, true);
	combo_event(c->open, COMBO_EVENT_SAID, bytes, len);
}

/* Appends dwells that ended by `until_ns` after the frames so far. Without a free combo they wait
 * in their ring, as frames do; at the end (`waits`) the thread waits for a combo. `with_last` as in
 * capture_push. */
static __attribute__((cold)) void capture_dwells(struct capture *c, uint64_t until_ns,
						 bool with_last, bool waits)
{
	const struct dwell *d;
	uint8_t bytes[DWELL_MAX];

	while (c->dwells && (d = dwells_front(c->dwells, until_ns))) {
		size_t len = dwell_write(bytes, d);

		if (c->open && !combo_event_fits(c->open, len))
			capture_push(c, with_last);
		if (!capture_open(c, monotonic_ns(), waits))
			return;
		combo_event(c->open, COMBO_EVENT_DWELL, bytes, len);
		dwells_pop(c->dwells);
	}
}

/* Returns milliseconds until the open combo's age is reached, rounded up; SOURCE_POLL_MS without
 * one. */
static int capture_timeout_ms(const struct capture *c)
{
	uint64_t now = monotonic_ns(), due;

	if (!c->open || combo_is_empty(c->open))
		return SOURCE_POLL_MS;
	due = c->open->opened_ns + c->combo_age_ns;
	if (due <= now)
		return 0;
	due = (due - now + 999999) / 1000000;
	return due < SOURCE_POLL_MS ? (int)due : SOURCE_POLL_MS;
}

/* Marks a frame that came while its radio changed the channel. */
static void capture_sampled(struct capture *c, struct source_frame *f)
{
	capture_dwells(c, f->heard_ns, false, false);
	if (dwells_unsettled(c->dwells, f->frame.interface, f->heard_ns))
		f->frame.direction |= SALUKI_UNSETTLED;
}

void *capture_thread(void *arg)
{
	struct capture *c = arg;
	struct source_frame f;

	for (;;) {
		/* Read before the source: frames that it has by now are still taken. */
		bool stop = __atomic_load_n(&c->stop, __ATOMIC_ACQUIRE);
		int got = stop && !c->drain ? 0 : c->source->ops->next(c->source, &f);

		if (got == 1) {
			if (MODULES && f.frame.linktype == SALUKI_LINKTYPE_EVENT) {
				capture_said(c, &f);
				continue;
			}
			if (c->dwells)
				capture_sampled(c, &f);
			capture_frame(c, &f);
			continue;
		}
		if (got < 0 || stop) {
			c->failed = got < 0 && got != -ENODATA;
			break;
		}
		capture_dwells(c, UINT64_MAX, true, false);
		if (capture_timeout_ms(c) == 0)
			capture_push(c, true);
		c->source->ops->wait(c->source, capture_timeout_ms(c));
	}
	capture_dwells(c, UINT64_MAX, true, true);
	capture_push(c, true);
	queue_end(c->queue);
	return NULL;
}
