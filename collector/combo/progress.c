// SPDX-License-Identifier: GPL-2.0
/* Progress: see progress.h. */
#include "progress.h"

#include "combos.h"
#include "sensor.h"
#include "collector/output/output_clock.h"

void progress_look(struct combos *c, struct sensor *s, uint64_t now_ns)
{
	struct progress_waits *w = &s->combo->progress;
	uint64_t there = s->ledger.now.accounted, before_ns = 0;

	/* Its frames are written, lost, or in the buffer before the watermark. */
	while (w->first.before_ns && w->first.exported <= there) {
		before_ns = w->first.before_ns;
		w->first = w->last;
		w->last.before_ns = 0;
	}
	if (!before_ns || before_ns == w->told_ns)
		return;
	w->told_ns = before_ns;
	output_watermark(c->output, s, before_ns, now_ns);
}

void progress_take(struct combos *c, struct sensor *s, const struct progress *p, uint64_t now_ns)
{
	struct progress_waits *w = &s->combo->progress;

	if (p->round_trip_ns)
		output_offset(c->output, s, p->ahead_ns, p->round_trip_ns, now_ns);
	if (!p->before_ns)
		return;
	w->last.exported = p->exported;
	w->last.before_ns = p->before_ns;
	if (!w->first.before_ns) {
		w->first = w->last;
		w->last.before_ns = 0;
	}
	progress_look(c, s, now_ns);
}

void progress_forget(struct sensor *s)
{
	s->combo->progress = (struct progress_waits){ 0 };
}
