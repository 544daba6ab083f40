// SPDX-License-Identifier: GPL-2.0
/*
 * Combos: see messages.h. In: pieces of combos, and what will not come. Out: frames and events of
 * whole combos, in the order of their counts, to output.h; the ledger.
 */
#include "collector/network/messages_parts.h"

/* Combos below `next` are written or lost. */
static void passed(struct session_receive *o, struct sensor *s, uint64_t next)
{
	if (next > s->output.next)
		output_passed(o->output, s, next, s->ledger.now.accounted);
}

/* Whom a combo may be of: no one-way sensor has been told its id. */
static uint16_t combo_id(const struct sensor *s, const uint8_t *combo, size_t len)
{
	return s->one_way && len >= COMBO_HEADER_LEN && !load_be(combo + 2, 2) ? 0 : s->id;
}

/* The n-th of its combo. */
static void split_event(struct session_receive *o, struct sensor *s, unsigned int n,
			uint64_t now_ns)
{
	const struct event *v = &o->events[n];

	switch (v->kind) {
	case EVENT_DWELL:
		coverage_add(&s->coverage, &v->dwell);
		output_dwell(o->output, s, &v->dwell, now_ns);
		break;
	case EVENT_MODULE:
		s->ledger.said++;
		output_module_event(o->output, s, &v->said, n, now_ns);
		break;
	case EVENT_BAD:
		s->ledger.bad_events++;
		break;
	default:
		s->ledger.unknown_events++;
	}
}

/* Frames and events, in their order. */
static void split_all(struct session_receive *o, struct sensor *s, struct combo_reader *r,
		      uint64_t now_ns)
{
	struct combo_event e;
	struct combo_frame f;
	unsigned int n = 0;

	for (;;) {
		while (combo_next_event(r, &e) == 1) {
			split_event(o, s, n++, now_ns);
			if (o->framed)
				o->framed(o->framed_user, s, NULL, &e, now_ns);
		}
		if (combo_next(r, &f) != 1)
			return;
		if (frame_check_frame(&o->refuse, &f))
			continue;
		output_frame(o->output, s, &f, now_ns);
		if (o->framed)
			o->framed(o->framed_user, s, &f, NULL, now_ns);
	}
}

/* The disk has no room, and the sensor cannot keep them: nothing comes back to it. */
static void lose(struct session_receive *o, struct sensor *s, const struct combo_name *name)
{
	s->ledger.now.lost_disk += name->frames;
	passed(o, s, name->count + 1);
}

/* There is room for it, and it is in the ledger. */
static void write_combo(struct session_receive *o, struct sensor *s, struct combo_name *name,
			struct combo_reader *r, uint64_t now_ns)
{
	interfaces_begin(s, o->output->section, now_ns);
	frame_check_combo(&o->refuse, s, r, o->events);
	name->refused = o->refuse.frames;
	name->events -= o->refuse.events;
	s->ledger.now.lost_refused += name->refused;
	if (name->frames == name->refused &&
	    !name->events) { /* nothing that would be in the file */
		passed(o, s, name->count + 1);
		split_all(o, s, r, now_ns);
		return;
	}
	output_combo(o->output, s, *name);
	split_all(o, s, r, now_ns);
	output_combo_end(o->output, s, now_ns);
}

/* Returns whether it was taken; otherwise it must wait. */
static bool split_combo(struct session_receive *o, struct sensor *s, const uint8_t *combo,
			size_t len, uint64_t count, uint64_t now_ns)
{
	bool one_way = sensor_is_one_way(s), room = !output_holds(o->output, s);
	struct combo_header h;
	struct combo_reader r;
	struct combo_name name;
	const uint8_t *body = NULL;
	size_t bytes;

	if (!room && !one_way)
		return false;
	if (s->spooled.id)
		combo = forward_open(&s->spooled, o->combo, &len, s, count, combo);
	if (combo && combo_header_read(&h, combo, len, combo_id(s, combo, len)) == 0 &&
	    h.seqn == (uint16_t)count)
		body = decompress_combo(o->decompress, &h, combo, len);
	if (!body || combo_open_version(&r, body, h.body_len, h.frames, h.version) ||
	    r.first < s->ledger.now.accounted) {
		s->ledger.bad_combos++;
		passed(o, s, count + 1);
		return true;
	}
	name = (struct combo_name){ .count = count,
				    .first = r.first,
				    .frames = h.frames,
				    .events = event_read(o->events, &r) };
	bytes = r.bytes + r.unsettled * PCAPNG_UNSETTLED_LEN;
	if ((name.frames || name.events) && room)
		room = output_reserve(o->output, &name, bytes, now_ns);
	if (!room && !one_way)
		return false;
	if (ledger_combo(&s->ledger, r.first, h.frames)) {
		s->ledger.bad_combos++;
		passed(o, s, count + 1);
	} else if (!room) {
		lose(o, s, &name);
	} else {
		write_combo(o, s, &name, &r, now_ns);
	}
	return true;
}

/* All before the FLOOR is taken: what is missing there counts, before those behind it say so
 * themselves, to which it would be a gap like any other. */
static void past_reached(struct session_receive *o, struct sensor *s)
{
	if (!s->past.gone || s->reassembly.next < s->past.combo)
		return;
	s->past.gone(&s->ledger, s->past.first);
	s->past.gone = NULL;
	passed(o, s, s->reassembly.next);
}

const uint8_t *split_whole(struct session_receive *o, struct sensor *s, size_t *len,
			   uint64_t *count)
{
	const uint8_t *combo = reassemble_take(&s->reassembly, &o->pool, len, count);

	past_reached(o, s);
	return combo;
}

void split_due(struct session_receive *o, struct sensor *s)
{
	uint64_t count;
	size_t len;

	if (split_whole(o, s, &len, &count))
		turns_ready(o, s);
}

enum split_result split_next(struct session_receive *o, struct sensor *s, uint64_t now_ns)
{
	const uint8_t *combo;
	uint64_t count;
	size_t len;

	combo = split_whole(o, s, &len, &count);
	if (!combo)
		return !s->waiting || runs_begin(o, s, now_ns) ? SPLIT_NONE : SPLIT_HELD;
	if (!split_combo(o, s, combo, len, count, now_ns))
		return SPLIT_HELD;
	reassemble_done(&s->reassembly, &o->pool);
	return SPLIT_TAKEN;
}

bool split_piece(struct session_receive *o, struct sensor *s, const uint8_t *message, size_t len,
		 uint64_t now_ns)
{
	struct piece p;

	if (piece_read(&p, message, len)) {
		s->ledger.bad_pieces++;
		return true; /* it would be no better a second time */
	}
	if (s->sessions[s->current].one_way) {
		reassemble_reach(&s->reassembly, &p, ONE_WAY_COMBOS);
		split_due(o, s);
		/* It does not come again: what is whole makes place for it. */
		while (reassemble_is_beyond(&s->reassembly, &p) && turns_early(o, s, now_ns))
			;
	}
	switch (reassemble_add(&s->reassembly, &o->pool, &p, now_ns)) {
	case REASSEMBLE_TAKEN:
		split_due(o, s);
		return true;
	case REASSEMBLE_DUPLICATE:
		s->ledger.duplicate_pieces++;
		return true;
	case REASSEMBLE_REFUSED:
		s->no_room = true;
		return false;
	default:
		s->ledger.bad_pieces++;
		return true;
	}
}

void split_past(struct session_receive *o, struct sensor *s, uint64_t combo, uint64_t first,
		int (*gone)(struct ledger *, uint64_t))
{
	if (combo < s->reassembly.next || combo > INT64_MAX ||
	    (s->past.gone && combo < s->past.combo))
		return;
	s->past = (struct past){ .combo = combo, .first = first, .gone = gone };
	reassemble_floor(&s->reassembly, combo);
	split_due(o, s);
}
