// SPDX-License-Identifier: GPL-2.0
/*
 * Runs: see messages.h. In: sessions that begin. Out: the present run of a sensor, where it goes
 * on, and what its ACKs say. Always holds: a run begins when all combos of the one before it are
 * written.
 */
#include "messages_parts.h"

void split_rest(struct session_receive *o, struct sensor *s)
{
	if (s->reassembly.held)
		reassemble_floor(&s->reassembly, s->reassembly.next + REASSEMBLE_SLOTS);
	split_due(o, s);
}

/* All that is whole of the present run is written; what is missing of it is lost. */
static void run_end(struct session_receive *o, struct sensor *s)
{
	ledger_run_close(&s->ledger);
	output_run_end(o->output, s);
}

/* What waits is forgotten, and combo `next` is due. */
static void runs_start(struct session_receive *o, struct sensor *s, uint64_t next)
{
	reassemble_start(&s->reassembly, &o->pool, next);
	s->past.gone = NULL;
}

static void run_begin(struct session_receive *o, struct sensor *s, uint64_t run)
{
	const struct sensor_run *known;
	uint64_t next = 0, accounted = 0;

	if (s->ledger.runs)
		run_end(o, s);
	known = written_find(&o->output->names, s->id, run);
	if (known) {
		next = known->next;
		accounted = known->accounted;
	}
	runs_start(o, s, next);
	ledger_run_start(&s->ledger, run, accounted);
	/* A pipe's reader may have more than the state knows of. */
	if (known && o->output->regular)
		ledger_run_known(&s->ledger);
	coverage_free(&s->coverage);
	output_run_begin(o->output, s, run, next, accounted);
}

static bool is_another_run(const struct sensor *s, const struct session *session)
{
	return s->ledger.runs && session->run != s->ledger.run;
}

/* Whether combos that are whole, or in the output's buffer, must come first. */
static bool must_wait(struct session_receive *o, struct sensor *s, const struct session *session)
{
	uint64_t count;
	size_t len;

	if (!is_another_run(s, session) && session->spool == s->spooled.id)
		return false;
	return split_whole(o, s, &len, &count) ||
	       (is_another_run(s, session) && !output_is_written(o->output, s));
}

/* Its run may be the present one, in another session or carried on by another agent: then combos
 * that are here already will be known by their numbers. */
static void session_take(struct session_receive *o, struct sensor *s, const struct session *session)
{
	size_t told_at = session->spool && session->info_len ? SPOOL_HELLO_LEN : 0;
	struct info info;

	s->waiting = false;
	if (!s->ledger.runs || session->run != s->ledger.run) {
		run_begin(o, s, session->run);
	} else if (session->spool != s->spooled.id) {
		/* What waits is of another form. */
		runs_start(o, s, s->reassembly.next);
		ledger_run_resume(&s->ledger);
	} else {
		reassemble_resume(&s->reassembly, &o->pool);
		ledger_run_resume(&s->ledger);
	}
	s->final_heard = s->final_confirmed = false;
	forward_begin(&s->spooled, &o->meet.own, s->pair, session);
	info_read(&info, session->info + told_at, session->info_len - told_at);
	sensor_info_set(s, session->info + told_at, session->info_len - told_at);
	s->change = info.change;
	interfaces_describe(s, &info);
}

bool runs_begin(struct session_receive *o, struct sensor *s, uint64_t now_ns)
{
	const struct session *session = s->current < 0 ? NULL : &s->sessions[s->current];

	if (session && must_wait(o, s, session))
		return false;
	s->waiting = false;
	if (session)
		session_take(o, s, session);
	sensors_due(o->sensors, s, now_ns);
	return true;
}

void runs_session(struct session_receive *o, struct sensor *s, const struct session *session,
		  uint64_t now_ns)
{
	if (is_another_run(s, session))
		split_rest(o, s);
	s->waiting = false; /* or the session would begin in the midst of turns_hurry */
	if (session->one_way && must_wait(o, s, session))
		turns_hurry(o, s, now_ns); /* the sensor cannot be told to wait */
	s->waiting = must_wait(o, s, session);
	if (s->waiting)
		turns_wait(o, s, now_ns);
	else
		session_take(o, s, session);
}

/* ---- ACK ------------------------------------------------------------------------------------- */

/* All that the last word promises is in the file, or lost for good. */
static bool all_settled(const struct sensor *s)
{
	return s->final_heard && s->ledger.now.accounted >= s->ledger.now.sensor.exported &&
	       s->reassembly.next >= s->ledger.now.sensor.combos && /* some may have no frames */
	       !s->ledger.pending && s->output.settled >= s->reassembly.next;
}

/* Of a run that has not begun here: nothing of it is kept yet. */
static void ack_waiting(struct session_receive *o, const struct sensor *s, struct ack *ack)
{
	const struct sensor_run *known =
		written_find(&o->output->names, s->id, s->sessions[s->current].run);

	ack->taken = ack->settled = known ? known->next : 0;
	ack->flags = ACK_FULL;
}

static void ack_present(struct sensor *s, struct ack *ack)
{
	const struct reassembly *r = &s->reassembly;

	ack->taken = r->next;
	ack->settled = s->output.settled;
	ack->held = reassemble_held(r);
	if (!s->final_confirmed && all_settled(s)) {
		ledger_run_close(&s->ledger);
		s->final_confirmed = true;
	}
	ack->flags = (s->final_confirmed ? ACK_FINAL : 0) |
		     (reassemble_pool_whole(reassemble_pool_find(r, r->next)) ? ACK_WHOLE : 0) |
		     (s->no_room ? ACK_FULL : 0);
}

void runs_ack(struct session_receive *o, struct sensor *s, uint8_t out[ACK_LEN])
{
	const struct session *session = &s->sessions[s->current];
	struct ack ack = { .highest = session->rx.highest };

	if (s->waiting)
		ack_waiting(o, s, &ack);
	else
		ack_present(s, &ack);
	s->no_room = false;
	shroud_received(&session->rx, ack.received);
	ack_write(out, &ack);
}
