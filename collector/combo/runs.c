// SPDX-License-Identifier: GPL-2.0
/* Runs: see runs.h. */
#include "runs.h"

#include <sodium.h>
#include <stdlib.h>

#include "combos.h"
#include "gaps.h"
#include "progress.h"
#include "reassemble.h"
#include "sensor.h"
#include "collector/output/interfaces.h"
#include "collector/output/sensor.h"

static void terms_free(struct run_terms *t)
{
	free(t->info.text);
	sodium_memzero(t, sizeof(*t));
}

/* Ends the current run. Its complete combos are written; missing ones are lost. */
static void run_end(struct combos *c, struct sensor *s)
{
	ledger_run_close(&s->ledger);
	output_run_end(c->output, s);
}

/* Drops all pieces, and continues with combo `next`. */
static void runs_start(struct combos *c, struct sensor *s, uint64_t next)
{
	reassemble_start(&s->combo->reassembly, &c->pool, next);
	s->combo->gap.gone = NULL;
}

void runs_switch(struct combos *c, struct sensor *s, uint64_t run)
{
	const struct sensor_run *known;
	uint64_t next = 0, accounted = 0;

	if (s->ledger.runs)
		run_end(c, s);
	known = written_find(&c->output->names, s->id, run);
	if (known) {
		next = known->next;
		accounted = known->accounted;
	}
	runs_start(c, s, next);
	progress_forget(s);
	ledger_run_start(&s->ledger, run, accounted);
	/* A pipe's reader may have received more than the state records. */
	if (known && c->output->regular)
		ledger_run_known(&s->ledger);
	coverage_free(&s->coverage);
	output_run_begin(c->output, s, run, next, accounted);
}

static bool is_another_run(const struct sensor *s)
{
	return s->ledger.runs && s->combo->next.run != s->ledger.run;
}

static bool forwards_other(const struct sensor *s)
{
	return s->combo->next.forward.id != s->combo->forward.id;
}

/* A one-way sensor does not send again what comes before the brokers have confirmed its last run.
 */
static bool is_settled(struct combos *c, const struct sensor *s)
{
	return (s->no_acks && c->output->sink) || output_is_written(c->output, s);
}

bool runs_must_wait(struct combos *c, struct sensor *s)
{
	uint64_t count;
	size_t len;

	if (!is_another_run(s) && !forwards_other(s))
		return false;
	return gaps_whole(c, s, &len, &count) || (is_another_run(s) && !is_settled(c, s));
}

/* Switches to the run of the new session. This may be the current run, in another session or
 * continued by another agent: then combos that were received are recognized by their counts. */
static void next_take(struct combos *c, struct sensor *s)
{
	struct combo_sensor *own = s->combo;
	struct run_terms *next = &own->next;
	struct info info;

	own->waiting = false;
	if (!s->ledger.runs || is_another_run(s)) {
		runs_switch(c, s, next->run);
	} else if (forwards_other(s)) {
		/* The waiting pieces are of combos or of another spool. */
		runs_start(c, s, own->reassembly.next);
		ledger_run_resume(&s->ledger);
	} else {
		reassemble_resume(&own->reassembly, &c->pool);
		ledger_run_resume(&s->ledger);
		if (c->output->sink) /* other collectors have the same one */
			ledger_run_moved(&s->ledger);
	}
	s->final_heard = s->final_confirmed = false;
	own->forward = next->forward;
	info_read(&info, next->info.text, next->info.len);
	s->change = info.change;
	interfaces_describe(s, &info);
	free(s->info.text);
	s->info = next->info;
	next->info.text = NULL;
	terms_free(next);
}

bool runs_begin(struct combos *c, struct sensor *s)
{
	if (runs_must_wait(c, s))
		return false;
	next_take(c, s);
	return true;
}

bool runs_next(struct sensor *s, struct run_terms *t)
{
	terms_free(&s->combo->next);
	s->combo->next = *t;
	sodium_memzero(t, sizeof(*t));
	s->combo->waiting = false; /* keeps turns_hurry from starting the run */
	return is_another_run(s);
}

void runs_cancel(struct sensor *s)
{
	s->combo->waiting = false;
	terms_free(&s->combo->next);
}

/* ---- ACK ------------------------------------------------------------------------------------- */

/* Whether everything in the final totals is in the file, or lost for good. */
static bool all_settled(const struct sensor *s)
{
	return s->final_heard && s->ledger.now.accounted >= s->ledger.now.sensor.exported &&
	       s->combo->reassembly.next >=
		       s->ledger.now.sensor.combos && /* some may have no frames */
	       !s->ledger.pending &&
	       s->output->settled >= s->combo->reassembly.next;
}

/* Fills in the ACK of a run that has not started here. Nothing of it is kept yet. */
static void ack_waiting(struct combos *c, const struct sensor *s, struct ack *ack)
{
	const struct sensor_run *known = written_find(&c->output->names, s->id, s->combo->next.run);

	ack->taken = ack->settled = known ? known->next : 0;
	ack->flags = ACK_FULL;
}

static void ack_present(struct sensor *s, struct ack *ack)
{
	const struct reassembly *r = &s->combo->reassembly;

	ack->taken = r->next;
	ack->settled = s->output->settled;
	ack->held = reassemble_held(r);
	if (!s->final_confirmed && all_settled(s)) {
		ledger_run_close(&s->ledger);
		s->final_confirmed = true;
	}
	ack->flags = (s->final_confirmed ? ACK_FINAL : 0) |
		     (reassemble_pool_whole(reassemble_pool_find(r, r->next)) ? ACK_WHOLE : 0) |
		     (s->combo->no_room ? ACK_FULL : 0);
}

void runs_ack(struct combos *c, struct sensor *s, struct ack *ack)
{
	if (s->combo->waiting)
		ack_waiting(c, s, ack);
	else
		ack_present(s, ack);
	s->combo->no_room = false;
}
