// SPDX-License-Identifier: GPL-2.0
/*
 * Capture thread. In: frames from a source. Out: combos in the queue, each closed when full or
 * `--combo-age` after its first frame, with radios' dwells and the clocks' readings between the
 * frames. Always holds: no frame taken from the source is dropped here. If the queue is full, the
 * thread waits, and the kernel's ring fills and counts its losses. Allocates nothing.
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
	if (queue_pipelines(c->queue))
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
	return combo_is_empty(&s->combo) && !slot_is_list(s);
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
		if (slot_is_list(c->slot))
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

_Static_assert(SLOT_CLOCK_MAX >= READINGS_AT_ONCE * CLOCK_READING_WIRE_MAX,
	       "a slot has room for them");

/* Whether readings and the frame behind them fit into the open combo. */
static bool capture_fits(const struct capture *c, size_t readings_len, const struct source_frame *f)
{
	const struct combo *combo = &c->slot->combo;

	return combo_event_fits(combo, readings_len) &&
	       combo_fits(combo, f->frame.kept_len + COMBO_EVENT_HEAD_MAX + readings_len);
}

/* Puts the clocks' readings before the next frame, if they are needed there. */
static __attribute__((cold)) void capture_readings(struct capture *c, const struct source_frame *f)
{
	uint8_t bytes[READINGS_AT_ONCE * CLOCK_READING_WIRE_MAX];
	struct clock_readings chosen;
	size_t len;

	readings_choose(&c->readings, c->source->clock, &chosen);
	if (!chosen.count)
		return;
	len = clock_readings_write(bytes, &chosen);
	if (!capture_fits(c, len, f)) {
		capture_push(c, false);
		capture_open(c, f->heard_ns, true);
	}
	combo_event(&c->slot->combo, COMBO_EVENT_CLOCK, bytes, len);
}

/* The same with pipelines. A list has one event with readings. */
static __attribute__((cold)) void capture_list_readings(struct capture *c, uint64_t heard_ns)
{
	struct clock_readings chosen;

	readings_choose(&c->readings, c->source->clock, &chosen);
	if (!chosen.count)
		return;
	if (c->slot->clock_len) {
		capture_push(c, false);
		capture_open(c, heard_ns, true);
	}
	c->slot->clock_at = c->slot->listed;
	c->slot->clock_len = clock_readings_write(c->slot->clock, &chosen);
}

/* A combo's first frame is put in. The frames so far are in pushed combos. */
static void capture_first(struct capture *c, const struct source_frame *f)
{
	c->ring_start = f->taken;
	if (c->source->clock && !fill_is_event(&f->frame))
		watermark_set(&c->watermark, c->source, c->taken, f->heard_ns);
}

/* Puts a frame, or a module's event about the frame before it, into the open combo. Its ring space
 * belongs to its combo. */
static void capture_frame(struct capture *c, const struct source_frame *f)
{
	if (is_open(c) && capture_spans(c, f))
		capture_push(c, false);
	capture_open(c, f->heard_ns, true);
	if (readings_are_new(&c->readings, c->source->clock) && !fill_is_event(&f->frame))
		capture_readings(c, f);
	if (!c->slot->combo.frames)
		capture_first(c, f);
	while (!fill(&c->slot->combo, &f->frame)) {
		capture_push(c, false);
		capture_open(c, f->heard_ns, true);
		capture_first(c, f);
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
	if (readings_are_new(&c->readings, c->source->clock) && !fill_is_event(&f->frame))
		capture_list_readings(c, f->heard_ns);
	if (!c->counted)
		capture_first(c, f);
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

static bool has_open_frames(const struct capture *c)
{
	return c->slot && (c->slot->combo.frames || c->counted);
}

/* The source has no frame now. Reads the clocks, so that the next frame has two readings. */
static void capture_idle(struct capture *c)
{
	struct clock_offset *clock = c->source->clock;
	uint64_t now = monotonic_ns();

	if (!clock)
		return;
	clock_measure(clock, now);
	readings_look(&c->readings, clock);
	if (c->asked_ns && !has_open_frames(c))
		watermark_set(&c->watermark, c->source, c->taken, c->asked_ns);
	c->asked_ns = now;
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
	if (queue_pipelines(c->queue))
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
		capture_idle(c);
		c->source->ops->wait(c->source, capture_timeout_ms(c));
	}
	capture_dwells(c, UINT64_MAX, true, true);
	capture_push(c, true);
	queue_end(c->queue);
	return NULL;
}
