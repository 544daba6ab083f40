// SPDX-License-Identifier: GPL-2.0
/* Take: see take.h. */
#include "take.h"

#include <string.h>

#include "wire/totals.h"

/* ---- combos ---------------------------------------------------------------------------------- */

/* Combos below `next` are written or lost. */
static void passed(struct open *o, struct sensor *s, uint64_t next)
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
static void take_event(struct open *o, struct sensor *s, unsigned int n, uint64_t now_ns)
{
	const struct event *v = &o->events[n];

	switch (v->kind) {
	case EVENT_DWELL:
		coverage_add(&s->coverage, &v->dwell);
		output_dwell(o->output, s, &v->dwell, now_ns);
		break;
	case EVENT_SAID:
		s->ledger.said++;
		output_said(o->output, s, &v->said, n, now_ns);
		break;
	case EVENT_BAD:
		s->ledger.bad_events++;
		break;
	default:
		s->ledger.unknown_events++;
	}
}

/* Frames and events, in their order. */
static void take_all(struct open *o, struct sensor *s, struct combo_reader *r, uint64_t now_ns)
{
	struct combo_event e;
	struct combo_frame f;
	unsigned int n = 0;

	for (;;) {
		while (combo_next_event(r, &e) == 1) {
			take_event(o, s, n++, now_ns);
			if (o->framed)
				o->framed(o->framed_user, s, NULL, &e, now_ns);
		}
		if (combo_next(r, &f) != 1)
			return;
		output_frame(o->output, s, &f, now_ns);
		if (o->framed)
			o->framed(o->framed_user, s, &f, NULL, now_ns);
	}
}

static void take_combo(struct open *o, struct sensor *s, const uint8_t *combo, size_t len,
		       uint64_t count, uint64_t now_ns)
{
	struct combo_header h;
	struct combo_reader r;
	struct combo_name name;
	const uint8_t *body = NULL;

	if (s->spooled.id)
		combo = spooled_open(&s->spooled, o->combo, &len, s, count, combo);
	if (combo && combo_header_read(&h, combo, len, combo_id(s, combo, len)) == 0 &&
	    h.seqn == (uint16_t)count)
		body = decompress_combo(o->decompress, &h, combo, len);
	if (!body || combo_open_version(&r, body, h.body_len, h.frames, h.version) ||
	    ledger_combo(&s->ledger, r.first, h.frames)) {
		s->ledger.bad_combos++;
		passed(o, s, count + 1);
		return;
	}
	name = (struct combo_name){ .count = count,
				    .first = r.first,
				    .frames = h.frames,
				    .events = events_read(o->events, &r) };
	if (name.frames || name.events)
		output_combo(o->output, s, name, r.bytes + r.unsettled * PCAPNG_UNSETTLED_LEN,
			     now_ns);
	else /* nothing that would be in the file */
		passed(o, s, count + 1);
	take_all(o, s, &r, now_ns);
}

static void take_complete(struct open *o, struct sensor *s, uint64_t now_ns)
{
	const uint8_t *combo;
	uint64_t count;
	size_t len;

	while ((combo = reassemble_take(&s->reassembly, &o->pool, &len, &count))) {
		take_combo(o, s, combo, len, count, now_ns);
		reassemble_done(&s->reassembly, &o->pool);
	}
}

static bool take_piece(struct open *o, struct sensor *s, const uint8_t *message, size_t len,
		       uint64_t now_ns)
{
	struct piece p;

	if (piece_read(&p, message, len)) {
		s->ledger.bad_pieces++;
		return true; /* it would be no better a second time */
	}
	if (s->sessions[s->current].one_way) {
		reassemble_reach(&s->reassembly, &p, ONE_WAY_COMBOS);
		take_complete(o, s, now_ns);
	}
	switch (reassemble_add(&s->reassembly, &o->pool, &p, now_ns)) {
	case REASSEMBLE_TAKEN:
		take_complete(o, s, now_ns);
		return true;
	case REASSEMBLE_DUPLICATE:
		s->ledger.duplicate_pieces++;
		return true;
	case REASSEMBLE_REFUSED:
		return false;
	default:
		s->ledger.bad_pieces++;
		return true;
	}
}

/* ---- other messages -------------------------------------------------------------------------- */

/* Whether combos wait that come before this one. The next that is due does not. */
static bool whole_below(const struct reassembly *r, uint64_t combo)
{
	uint64_t n = combo - r->next;

	if (n < 2)
		return false;
	return reassemble_held(r) & (n > 64 ? UINT64_MAX : (1ULL << (n - 1)) - 1);
}

static void take_floor(struct open *o, struct sensor *s, const uint8_t *message, size_t len,
		       uint64_t now_ns)
{
	uint64_t combo, first;

	if (len != MESSAGE_FLOOR_LEN) {
		s->ledger.bad_messages++;
		return;
	}
	combo = load_be(message + 1, 8);
	first = load_be(message + 9, 8);
	if (s->sessions[s->current].one_way)
		one_way_floor(o, s, combo, first, now_ns);
	else
		take_past(o, s, combo, first, ledger_floor, now_ns);
}

void take_past(struct open *o, struct sensor *s, uint64_t combo, uint64_t first,
	       int (*gone)(struct ledger *, uint64_t), uint64_t now_ns)
{
	if (combo < s->reassembly.next || combo > INT64_MAX)
		return;
	/* Before those behind it say so themselves: to them it would be a gap like any other. */
	if (!whole_below(&s->reassembly, combo))
		gone(&s->ledger, first);
	reassemble_floor(&s->reassembly, combo);
	take_complete(o, s, now_ns);
	if (s->reassembly.next == combo)
		gone(&s->ledger, first);
	passed(o, s, s->reassembly.next);
}

static void take_totals(struct sensor *s, const uint8_t *message, size_t len)
{
	struct totals t;

	if (totals_read(&t, message, len)) {
		s->ledger.bad_messages++;
		return;
	}
	ledger_totals(&s->ledger, &t);
	s->final_heard |= t.final != 0;
}

/* Something has changed while the session lives. It is said several times. */
static void take_info(struct sensor *s, const uint8_t *message, size_t len)
{
	struct info info;

	if (len < 2 || len > INFO_MESSAGE_MAX) {
		s->ledger.bad_messages++;
		return;
	}
	info_read(&info, message + 1, len - 1);
	if (!info.count)
		s->ledger.bad_messages++;
	if (!info.count || info.change <= s->change || sensor_info_set(s, message + 1, len - 1))
		return;
	s->change = info.change;
	interfaces_describe(s, &info);
}

static void take_answer(struct open *o, struct sensor *s, const uint8_t *message, size_t len)
{
	if (len < 10)
		s->ledger.bad_messages++;
	else if (o->answered)
		o->answered(o->answered_user, s, load_be(message + 1, 8), message[9], message + 10,
			    len - 10);
}

bool take_message(struct open *o, struct sensor *s, const uint8_t *message, size_t len,
		  uint64_t now_ns)
{
	switch (message[0]) {
	case MESSAGE_COMBO:
		return take_piece(o, s, message, len, now_ns);
	case MESSAGE_TOTALS:
		take_totals(s, message, len);
		break;
	case MESSAGE_INFO:
		take_info(s, message, len);
		break;
	case MESSAGE_FLOOR:
		take_floor(o, s, message, len, now_ns);
		break;
	case MESSAGE_ANSWER:
		take_answer(o, s, message, len);
		break;
	default:
		s->ledger.bad_messages++;
	}
	return true;
}

/* ---- runs ------------------------------------------------------------------------------------ */

void take_rest(struct open *o, struct sensor *s, uint64_t now_ns)
{
	reassemble_floor(&s->reassembly, s->reassembly.next + REASSEMBLE_SLOTS);
	take_complete(o, s, now_ns);
}

/* The present run will send no more: what is whole is written, what is missing of it is lost. */
static void run_end(struct open *o, struct sensor *s, uint64_t now_ns)
{
	if (s->reassembly.held)
		take_rest(o, s, now_ns);
	ledger_run_close(&s->ledger);
	output_run_end(o->output, s);
}

static void run_begin(struct open *o, struct sensor *s, uint64_t run, uint64_t now_ns)
{
	const struct sensor_run *known;
	uint64_t next = 0, accounted = 0;

	if (s->ledger.runs)
		run_end(o, s, now_ns);
	known = names_find(&o->output->names, s->id, run);
	if (known) {
		next = known->next;
		accounted = known->accounted;
	}
	reassemble_start(&s->reassembly, &o->pool, next);
	ledger_run_start(&s->ledger, run, accounted);
	coverage_free(&s->coverage);
	output_run_begin(o->output, s, run, next, accounted);
}

/* Its run may be the present one, in another session or carried on by another agent: then combos
 * that are here already will be known by their numbers. */
void take_session(struct open *o, struct sensor *s, struct session *session, uint64_t now_ns)
{
	size_t told_at = session->spool && session->info_len ? SPOOL_HELLO_LEN : 0;
	struct info info;

	if (!s->ledger.runs || session->run != s->ledger.run) {
		run_begin(o, s, session->run, now_ns);
	} else if (session->spool != s->spooled.id) {
		/* What waits is of another form. */
		reassemble_start(&s->reassembly, &o->pool, s->reassembly.next);
		ledger_run_resume(&s->ledger);
	} else {
		reassemble_resume(&s->reassembly, &o->pool);
		ledger_run_resume(&s->ledger);
	}
	s->final_heard = s->final_confirmed = false;
	spooled_begin(&s->spooled, &o->meet.own, s->pair, session);
	info_read(&info, session->info + told_at, session->info_len - told_at);
	sensor_info_set(s, session->info + told_at, session->info_len - told_at);
	s->change = info.change;
	interfaces_describe(s, &info);
}

/* ---- ACK ------------------------------------------------------------------------------------- */

/* All that the last word promises is in the file, or lost for good. */
static bool all_settled(const struct sensor *s)
{
	return s->final_heard && s->ledger.now.accounted >= s->ledger.now.sensor.exported &&
	       s->reassembly.next >= s->ledger.now.sensor.combos && /* some may have no frames */
	       !s->ledger.pending && s->output.settled >= s->reassembly.next;
}

void take_ack(struct sensor *s, uint8_t out[ACK_LEN])
{
	const struct session *session = &s->sessions[s->current];
	struct ack ack = { .highest = session->rx.highest,
			   .taken = s->reassembly.next,
			   .settled = s->output.settled,
			   .held = reassemble_held(&s->reassembly) };

	if (!s->final_confirmed && all_settled(s)) {
		ledger_run_close(&s->ledger);
		s->final_confirmed = true;
	}
	ack.flags = s->final_confirmed ? ACK_FINAL : 0;
	shroud_received(&session->rx, ack.received);
	ack_write(out, &ack);
}
