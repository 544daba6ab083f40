// SPDX-License-Identifier: GPL-2.0
/* Run: see run.h. */
#include "run.h"

#include "collector/combo/combos.h"
#include "collector/combo/runs.h"
#include "collector/output/output_flush.h"
#include "collector/output/sensor.h"

static bool is_present(const struct sensor *s, uint64_t run)
{
	return s->ledger.runs && s->ledger.run == run;
}

/* The buffer may have combos of the run, if the sensor had another name. */
bool run_find(struct combos *c, const struct sensor *s, uint64_t run, struct run_place *at)
{
	struct output *out = c->output;
	const struct sensor_run *r;

	if (is_present(s, run)) {
		*at = (struct run_place){ true, s->output->next,
					  s->ledger.now.accounted - s->ledger.now.tail };
		return true;
	}
	if (out->pending && !output_flush(out))
		return false;
	r = written_find(&out->names, s->id, run);
	*at = r ? (struct run_place){ true, r->next, r->accounted } : (struct run_place){ 0 };
	return true;
}

/* Returns the totals of an ended run that may continue; NULL: none. */
static const struct totals *past_totals(const struct sensor *s, uint64_t run)
{
	const struct ledger_past *p = s->ledger.past;

	for (unsigned int i = 0; p && i < p->count; i++)
		if (p->runs[i].run == run)
			return &p->runs[i].at_end.sensor;
	return NULL;
}

/* The final totals stand behind all combos of their run, except late ones. */
static void run_close(struct sensor *s, const struct totals *final)
{
	ledger_totals(&s->ledger, final);
	ledger_run_close(&s->ledger);
	s->final_heard = s->final_confirmed = true;
}

void run_switch(struct combos *c, struct roster_entry *e, uint64_t run, const struct run_place *at)
{
	struct sensor *s = e->sensor;
	const struct totals *past;
	struct totals had = { 0 };

	if (is_present(s, run))
		return;
	past = past_totals(s, run);
	if (past)
		had = *past;
	if (!at->known)
		late_forget(&e->late, run);
	runs_switch(c, s, run);
	s->final_heard = s->final_confirmed = false;
	if (had.final)
		run_close(s, &had);
}

void run_first(struct combos *c, struct roster_entry *e, const struct put_name *n)
{
	struct sensor *s = e->sensor;

	s->ledger.now.earlier += n->first;
	s->ledger.now.accounted += n->first;
	s->output->next = n->count;
	s->output->accounted = n->first;
	written_put(&c->output->names, s->id, n->run, n->count, n->first);
	late_add(&e->late,
		 &(struct late_gap){
			 .run = n->run, .to = n->count, .end = n->first, .earlier = true });
	written_gaps_put(&c->output->names, s->id, &e->late);
}

/* ---- totals ---------------------------------------------------------------------------------- */

bool run_reopen(struct sensor *s, struct totals *final)
{
	if (!s->final_confirmed)
		return false;
	*final = s->ledger.now.sensor;
	ledger_run_resume(&s->ledger);
	return true;
}

void run_close_again(struct sensor *s, const struct totals *final)
{
	if (s->ledger.now.accounted <= final->exported)
		run_close(s, final);
	else /* another agent continues the run */
		s->final_heard = s->final_confirmed = false;
}

static bool is_news(const struct totals *had, const struct totals *t)
{
	return t->exported > had->exported || t->seen > had->seen || t->final > had->final;
}

/* Final totals stand behind the run's combos, unless another agent has continued the run. */
bool run_totals_old(const struct sensor *s, uint64_t run, const struct run_place *at,
		    const struct totals *t)
{
	const struct totals *past = is_present(s, run) ? NULL : past_totals(s, run);

	return (past && !is_news(past, t)) ||
	       (t->final && at->known && t->exported < at->accounted);
}

void run_totals(struct sensor *s, const struct totals *t)
{
	if (s->final_heard && !t->final && t->exported > s->ledger.now.sensor.exported) {
		ledger_run_resume(&s->ledger); /* another agent continues the run */
		s->final_heard = s->final_confirmed = false;
	}
	if (t->final)
		run_close(s, t);
	else
		ledger_totals(&s->ledger, t);
}
