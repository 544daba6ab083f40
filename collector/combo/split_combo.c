// SPDX-License-Identifier: GPL-2.0
/* Split, one combo: see split.h. Its frames and events are output in their order. */
#include "split.h"

#include "ahead.h"
#include "combos.h"
#include "gaps.h"
#include "sensor.h"
#include "collector/output/interfaces.h"
#include "collector/output/output_hold.h"
#include "collector/output/output_sink.h"
#include "collector/output/sensor.h"

static void count_event(struct sensor *s, const struct event *v, uint64_t now_ns)
{
	switch (v->kind) {
	case EVENT_DWELL:
		coverage_add(&s->coverage, &v->dwell);
		break;
	case EVENT_MODULE:
		s->ledger.module_events++;
		module_counts_add(&s->modules, v->module.name, now_ns);
		break;
	case EVENT_READINGS:
	case EVENT_LEFT:
		break;
	case EVENT_BAD:
		s->ledger.bad_events++;
		break;
	default:
		s->ledger.unknown_events++;
	}
}

/* Takes the n-th event of a combo. A sink has the whole combo. */
static void split_event(struct combos *c, struct sensor *s, unsigned int n, uint64_t now_ns)
{
	const struct event *v = &c->events[n];

	count_event(s, v, now_ns);
	if (c->output->sink)
		return;
	if (v->kind == EVENT_DWELL)
		output_dwell(c->output, s, &v->dwell, now_ns);
	else if (v->kind == EVENT_MODULE)
		output_module_event(c->output, s, &v->module, n, now_ns);
	else if (v->kind == EVENT_READINGS)
		output_readings(c->output, s, &v->readings, c->check.first, now_ns);
}

/* Passes on frames and events, in order. */
static void split_all(struct combos *c, struct sensor *s, struct combo_reader *r, uint64_t now_ns)
{
	struct combo_event e;
	struct combo_frame f;
	unsigned int n = 0;

	for (;;) {
		while (combo_next_event(r, &e) == 1) {
			split_event(c, s, n++, now_ns);
			if (c->framed)
				c->framed(c->framed_user, s, NULL, &e, now_ns);
		}
		if (combo_next(r, &f) != 1)
			return;
		if (frame_check_frame(&c->check, &f))
			continue;
		if (!c->output->sink)
			output_frame(c->output, s, &f, now_ns);
		if (c->framed)
			c->framed(c->framed_user, s, &f, NULL, now_ns);
	}
}

/* Counts a combo as lost: the disk has no room, and without ACKs the sensor has not kept it. */
static void lose(struct combos *c, struct sensor *s, const struct combo_name *name)
{
	s->ledger.now.lost_disk += name->frames;
	gaps_passed(c, s, name->count + 1);
}

/* Passes the whole combo on. Rules and counters also want its frames and events. */
static void sink_combo(struct combos *c, struct sensor *s, const struct combo_name *name,
		       struct unpacked *u, uint64_t now_ns)
{
	output_sink_combo(c->output, s, name, u->combo, u->len, now_ns);
	split_all(c, s, &u->reader, now_ns);
}

/* Writes a combo that has room and is in the ledger. */
static void write_combo(struct combos *c, struct sensor *s, struct combo_name *name,
			struct unpacked *u, uint64_t now_ns)
{
	struct combo_reader *r = &u->reader;

	interfaces_begin(s, c->output->section, now_ns);
	frame_check_combo(&c->check, s, r, c->events);
	name->refused = c->check.frames;
	name->events -= c->check.events;
	s->ledger.now.lost_refused += name->refused;
	if (name->frames == name->refused && !name->events) { /* nothing to write */
		gaps_passed(c, s, name->count + 1);
		split_all(c, s, r, now_ns);
		return;
	}
	if (c->output->sink) {
		sink_combo(c, s, name, u, now_ns);
		return;
	}
	output_combo(c->output, s, *name);
	split_all(c, s, r, now_ns);
	output_combo_end(c->output, s, now_ns);
}

struct unpacked *split_unpack(struct combos *c, struct sensor *s, const uint8_t *combo, size_t len,
			      uint64_t count)
{
	struct ahead_combo want = { s, combo, len, count, split_id(s, combo, len) };
	struct unpacked *u = NULL;
	bool valid;

	if (!s->combo->forward.id)
		u = ahead_take(&c->ahead, &want, &c->decompress, &valid);
	if (!u) {
		u = &c->unpacked;
		valid = unpack_combo(u, &c->decompress, combo, len, want.id, count);
	}
	return valid ? u : NULL;
}

bool split_unpacked(struct combos *c, struct sensor *s, struct unpacked *u, uint64_t count,
		    uint64_t now_ns)
{
	bool can_wait = !s->no_acks, room = !output_holds(c->output, s);
	struct combo_reader *r = &u->reader;
	struct combo_name name = { .count = count,
				   .first = r->first,
				   .frames = r->frames,
				   .events = event_read(c->events, r) };
	size_t bytes = r->bytes + r->unsettled * PCAPNG_UNSETTLED_LEN;

	if ((name.frames || name.events) && room && !c->output->sink)
		room = output_reserve(c->output, &name, bytes, now_ns);
	if (!room && can_wait)
		return false;
	if (ledger_combo(&s->ledger, r->first, name.frames)) {
		s->ledger.bad_combos++;
		gaps_passed(c, s, count + 1);
	} else if (!room) {
		lose(c, s, &name);
	} else {
		write_combo(c, s, &name, u, now_ns);
	}
	return true;
}

bool split_combo(struct combos *c, struct sensor *s, const uint8_t *combo, size_t len,
		 uint64_t count, uint64_t now_ns)
{
	struct unpacked *u = NULL;

	if (output_holds(c->output, s) && !s->no_acks)
		return false;
	if (s->combo->forward.id)
		combo = forward_open(&s->combo->forward, c->combo, &len, s, count, combo);
	if (combo)
		u = split_unpack(c, s, combo, len, count);
	if (u && u->reader.first >= s->ledger.now.accounted)
		return split_unpacked(c, s, u, count, now_ns);
	s->ledger.bad_combos++;
	gaps_passed(c, s, count + 1);
	return true;
}
