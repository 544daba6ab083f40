// SPDX-License-Identifier: GPL-2.0
/* Sensor sessions: see sensor_sessions.h. */
#include "sensor_sessions.h"

#include "collector/combo/intake.h"
#include "collector/combo/runs.h"
#include "collector/combo/sensor.h"
#include "handshake_admit.h"
#include "handshake_forward.h"
#include "sensor.h"

static void old_begin(struct network *o, struct sensor *s, uint64_t now_ns)
{
	if (s->network->old >= 0)
		session_end(&s->network->sessions[s->network->old], &o->table);
	s->network->old = s->network->current;
	if (s->network->old < 0)
		return;
	s->network->old_until_ns = now_ns + SENSOR_SESSIONS_OLD_NS;
	if (s->network->old_listed)
		return;
	s->network->old_listed = true;
	s->network->old_next = NULL;
	if (o->old_last)
		o->old_last->network->old_next = s;
	else
		o->old_first = s;
	o->old_last = s;
}

/* Ends old sessions that are due. A sensor that got another old session keeps its place in the
 * list, so sessions after it may end later, by up to the same time. */
uint64_t sensor_sessions_expire(struct network *o, uint64_t now_ns)
{
	struct sensor *s;

	while ((s = o->old_first)) {
		int old = s->network->old;

		if (old >= 0 && s->network->old_until_ns > now_ns)
			return s->network->old_until_ns;
		o->old_first = s->network->old_next;
		if (!o->old_first)
			o->old_last = NULL;
		s->network->old_next = NULL;
		s->network->old_listed = false;
		if (old >= 0)
			session_end(&s->network->sessions[old], &o->table);
		s->network->old = -1;
	}
	return UINT64_MAX;
}

/* Ends the current session at a set-up, which may come from another process. That process encodes
 * the same combos differently and has its own final totals, so datagrams in flight must not count
 * as its own. Renewals stay within one process, and without ACKs a sensor sends nothing twice. */
static void old_replace(struct network *o, struct sensor *s)
{
	if (s->network->current < 0)
		return;
	session_end(sensor_session(s), &o->table);
	s->network->current = -1;
}

void sensor_sessions_begin(struct network *o, struct sensor *s, uint64_t now_ns)
{
	struct session *c = sensor_candidate(s);
	struct run_terms terms;

	handshake_admit_begun(o, s, c, now_ns);
	if (!c->renewed && !c->no_acks)
		old_replace(o, s);
	old_begin(o, s, now_ns);
	s->network->current = s->network->candidate;
	s->network->candidate = -1;
	s->network->unacked = 0;
	s->up = true;
	s->no_acks = c->no_acks;
	if (c->renewed) {
		o->counters.renewals++;
		return;
	}
	o->counters.sessions++;
	s->begun++;
	handshake_forward_terms(&terms, &o->handshake, s, c);
	intake_session(o->combos, s, &terms, now_ns);
	if (o->begun)
		o->begun(o->begun_user, s);
}

void sensor_sessions_end(struct network *o, struct sensor *s)
{
	for (int i = 0; s->network->sessions && i < SENSOR_SESSIONS; i++)
		session_end(&s->network->sessions[i], &o->table);
	s->network->current = s->network->candidate = s->network->old = -1;
	s->network->unacked = 0;
	s->up = s->no_acks = false;
	sensors_not_due(s);
	runs_cancel(s);
}
