// SPDX-License-Identifier: GPL-2.0
/* Output, sink: see output_sink.h. */
#include "output_sink.h"

#include "collector/model/sensors.h"
#include "common/monotonic.h"
#include "output_flush.h"
#include "sensor.h"

/* The brokers have a combo, or refuse it. Combos in several partitions are confirmed in any order,
 * and those of one sensor almost always in theirs. A one-way sensor's may be of an earlier run. */
static void settled(void *user, struct sensor *s, const struct sink_fate *f)
{
	const struct window_entry *first = window_first_combo(&s->output->sink.part);
	struct output *out = user;

	ledger_delivered(&s->ledger, f->frames - f->refused, f->delivered);
	s->output->pending = first != NULL;
	if (!first)
		output_settle(out, s);
	else if (first->run == s->output->run && first->count > s->output->settled)
		output_settle_to(out, s, first->count, first->first);
}

void output_sink_init(struct output *out)
{
	out->sink->settled = settled;
	out->sink->user = out;
}

void output_sink_combo(struct output *out, struct sensor *s, const struct combo_name *name,
		       const uint8_t *combo, size_t len, uint64_t now_ns)
{
	struct output_sensor *o = s->output;
	struct sink_combo c = { .run = o->run,
				.count = name->count,
				.first = name->first,
				.frames = name->frames,
				.refused = name->refused,
				.bytes = combo,
				.len = len };
	uint32_t frames = name->frames - name->refused;

	o->next = name->count + 1;
	o->accounted = name->first + name->frames;
	s->ledger.pending += frames;
	if (sink_put(out->sink, s, &o->sink, &c, now_ns) == 0) {
		o->pending = true;
		return;
	}
	ledger_delivered(&s->ledger, frames, false); /* no memory */
	if (!o->pending)
		output_settle(out, s);
}

void output_progress(struct output *out, struct sensor *s, const uint8_t *message, size_t len,
		     uint64_t now_ns)
{
	struct output_sensor *o = s->output;

	if (out->sink)
		sink_put_progress(out->sink, s, &o->sink, o->run, o->next, message, len, now_ns);
}

void output_totals(struct output *out, struct sensor *s, const uint8_t *message, size_t len,
		   bool final, uint64_t now_ns)
{
	struct output_sensor *o = s->output;

	if (out->sink)
		sink_put_totals(out->sink, s, &o->sink, o->run, o->next, message, len, final,
				now_ns);
}
