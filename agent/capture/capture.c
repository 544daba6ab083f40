// SPDX-License-Identifier: GPL-2.0
/*
 * Capture thread. In: frames from a source. Out: combos in the queue, each closed when full or
 * `--combo-age` after its first frame, with radios' dwells between the frames. Always holds: no
 * frame taken from the source is dropped here. If the queue is full, the thread waits, and the
 * kernel's ring fills and counts its losses. Allocates nothing.
 */
#include "capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/source/clock.h"
#include "fill.h"

int capture_init(struct capture *c, struct source *source, struct queue *queue,
		 const struct handover *h, uint32_t combo_age_ms)
{
	bool is_file = h->kind == HANDOVER_FILE;

	*c = (struct capture){
		.source = source,
		.queue = queue,
		.combo_age_ns = combo_age_ms * 1000000ULL,
		.ring_span_max = is_file ? 0 : h->ring_size / (2 * queue->len),
		.drain = !is_file && !h->persistent,
		.limit_fd = -1,
		.marked = calloc(source->lanes + 1, sizeof(*c->marked)),
	};
	return c->marked ? 0 : -ENOMEM;
}

int capture_begin(struct capture *c, uint64_t frames, uint64_t limit)
{
	c->first = c->taken = frames;
	if (c->queue->pipelines)
		c->source->ops->mark(c->source, true, c->marked);
	if (!limit)
		return 0;
	c->limit = frames + limit;
	c->limit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return c->limit_fd < 0 ? -errno : 0;
}

void capture_free(struct capture *c)
{
	free(c->marked);
	if (c->limit_fd >= 0)
		close(c->limit_fd);
}

static bool slot_is_empty(const struct slot *s)
{
	return combo_is_empty(&s->combo) && !s->listed;
}

static bool is_open(const struct capture *c)
{
	return c->slot && !slot_is_empty(c->slot);
}

/* Ends a list, which a pipeline will put into combos. */
static void capture_end_list(struct capture *c, bool with_last)
{
	size_t len = c->source->lanes * sizeof(*c->marked);
	struct slot *s = c->slot;

	memcpy(s->from, c->marked, len);
	c->source->ops->mark(c->source, with_last, c->marked);
	memcpy(s->last, c->marked, len);
	s->first = c->first;
	c->first += c->counted;
	c->counted = c->cost = 0;
}

/* `with_last`: all frames from the source are in a combo. */
static void capture_push(struct capture *c, bool with_last)
{
	if (is_open(c)) {
		if (c->slot->listed)
			capture_end_list(c, with_last);
		else if (c->source->ops->mark)
			c->source->ops->mark(c->source, with_last, c->slot->ends);
		queue_push(c->queue);
	}
	c->slot = NULL;
}

/* Makes sure that a slot is open, for something that was heard at `heard_ns`. If none is free,
 * waits for one, or without `waits` returns false. */
static bool capture_open(struct capture *c, uint64_t heard_ns, bool waits)
{
	while (!c->slot && !(c->slot = queue_slot(c->queue))) {
		if (!waits)
			return false;
		queue_wait_slot(c->queue, SOURCE_POLL_MS);
	}
	if (slot_is_empty(c->slot))
		c->slot->combo.opened_ns = heard_ns;
	return true;
}

/* Whether the open combo's records span much of the ring. */
static bool capture_spans(const struct capture *c, const struct source_frame *f)
{
	return c->ring_span_max && f->taken - c->ring_start > c->ring_span_max &&
	       (c->slot->combo.frames || c->counted);
}

/* Puts a frame, or a module's event about the frame before it, into the open combo. Its ring space
 * belongs to its combo. */
static void capture_frame(struct capture *c, const struct source_frame *f)
{
	if (is_open(c) && capture_spans(c, f))
		capture_push(c, false);
	capture_open(c, f->heard_ns, true);
	if (!c->slot->combo.frames)
		c->ring_start = f->taken;
	while (!fill(&c->slot->combo, &f->frame)) {
		capture_push(c, false);
		capture_open(c, f->heard_ns, true);
		c->ring_start = f->taken;
	}
}

/* The same with pipelines: only lists it. */
static void capture_list(struct capture *c, const struct source_frame *f)
{
	uint32_t each = __atomic_load_n(&c->queue->frame_cost, __ATOMIC_RELAXED);
	uint32_t cost = fill_cost(&f->frame, each);

	if (is_open(c) && (c->cost + cost > c->queue->list_cost ||
			   c->slot->listed == COMBO_FRAMES_MAX || capture_spans(c, f)))
		capture_push(c, false);
	capture_open(c, f->heard_ns, true);
	if (!c->counted)
		c->ring_start = f->taken;
	c->slot->list[c->slot->listed++] = f->frame;
	c->counted += !fill_is_event(&f->frame);
	c->cost += cost;
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

		if (c->slot && !combo_event_fits(&c->slot->combo, len))
			capture_push(c, with_last);
		if (!capture_open(c, monotonic_ns(), waits))
			return;
		combo_event(&c->slot->combo, COMBO_EVENT_DWELL, bytes, len);
		dwells_pop(c->dwells);
	}
}

/* Returns milliseconds until the open combo's age is reached, rounded up; SOURCE_POLL_MS without
 * one. */
static int capture_timeout_ms(const struct capture *c)
{
	uint64_t now = monotonic_ns(), due;

	if (!is_open(c))
		return SOURCE_POLL_MS;
	due = c->slot->combo.opened_ns + c->combo_age_ns;
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

static void capture_take(struct capture *c, struct source_frame *f)
{
	bool is_event = fill_is_event(&f->frame);

	if (is_event && !fill_event_is_valid(&f->frame))
		return;
	if (c->dwells && !is_event)
		capture_sampled(c, f);
	if (c->queue->pipelines)
		capture_list(c, f);
	else
		capture_frame(c, f);
	c->taken += !is_event;
	if (c->taken == c->limit && !is_event) {
		capture_push(c, true);
		event_signal(c->limit_fd);
	}
}

/* At the limit, a source that counts a frame when it gives the frame must not give one more. Others
 * have counted more frames by then: the export thread drops those. */
static bool capture_is_full(const struct capture *c)
{
	return c->limit && c->taken >= c->limit && !c->drain;
}

void *capture_thread(void *arg)
{
	struct capture *c = arg;
	struct source_frame f;

	for (;;) {
		/* Read before the source: frames that it has by now are still taken. */
		bool stop = __atomic_load_n(&c->stop, __ATOMIC_ACQUIRE);
		int got;

		stop |= capture_is_full(c);
		got = stop && !c->drain ? 0 : c->source->ops->next(c->source, &f);

		if (got == 1) {
			capture_take(c, &f);
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
