// SPDX-License-Identifier: GPL-2.0
/*
 * Progress: see export.h. In: the capture thread's watermark, the session's measurement. Out: a
 * message with each totals, and twice a second while no combos are exported: then each message
 * costs the collector an ACK, and with combos it tells nothing new. Always holds: the message's
 * watermark is of frames that are exported.
 */
#include "export.h"

#include "common/monotonic.h"
#include "wire/progress.h"

/* Keeps the last watermark whose frames are all exported: the next ones come with full combos. */
static void take_watermark(struct exporter *e)
{
	struct watermark_mark now;

	watermark_read(e->watermark, &now);
	if (now.frames <= e->counters.exported)
		e->mark = now;
}

void export_progress(struct exporter *e, uint64_t now_ns)
{
	uint8_t message[PROGRESS_WIRE_MAX];
	struct progress p;

	e->next_progress_ns = now_ns + PROGRESS_INTERVAL_NS;
	e->progress_next = e->counters.next;
	if (e->watermark)
		take_watermark(e);
	p.exported = e->mark.frames;
	p.before_ns = e->mark.before_ns;
	p.round_trip_ns = session_measured(e->session, monotonic_ns(), &p.ahead_ns);
	if (p.before_ns || p.round_trip_ns)
		deliver_message(&e->deliver, message, progress_write(message, &p), now_ns);
}

void export_progress_between(struct exporter *e, uint64_t now_ns)
{
	bool combos = e->counters.next != e->progress_next;

	e->progress_next = e->counters.next;
	e->next_progress_ns = now_ns + PROGRESS_INTERVAL_NS;
	if (!combos && e->next_totals_ns > now_ns + PROGRESS_INTERVAL_NS / 4)
		export_progress(e, now_ns);
}
