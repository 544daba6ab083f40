// SPDX-License-Identifier: GPL-2.0
/* Handshake admit: see handshake_admit.h. */
#include "handshake_admit.h"

#include <sodium.h>

#include "session_send.h"
#include "sensor.h"

/* Sends the answer to the m1's address. */
static void answer_set_up(struct network *o, const struct set_up *u, const struct datagram *d)
{
	session_send_to(o, u->out, u->out_len, d->from, d->from_len);
}

static void admit_busy(struct network *o, const struct set_up *u, const struct datagram *d)
{
	const struct sockaddr *at = &sensor_session(u->s)->address.any;

	o->counters.busy_set_ups++;
	u->s->twice_ns = d->now_ns;
	refusals_busy(&o->refused, u->s->name, at, d->from, !u->out_len, d->now_ns);
	if (u->out_len) {
		answer_set_up(o, u, d);
	} else { /* one-way: both continue, and use up each other's slots */
		wrong_key_expect(&o->wrong_key, d->from, d->now_ns);
		wrong_key_expect(&o->wrong_key, at, d->now_ns);
	}
}

/* Takes an m1. Returns whether it is authentic. */
static bool admit(struct network *o, struct set_up *u, const struct datagram *d)
{
	u->m = &o->handshake;
	u->t = &o->table;
	u->now_ns = d->now_ns;
	switch (handshake_take(u)) {
	case HANDSHAKE_NONE:
		return false;
	case HANDSHAKE_TAKEN:
		o->counters.set_ups++;
		session_address(&sensor_candidate(u->s)->address, d->from, d->from_len);
		answer_set_up(o, u, d);
		break;
	case HANDSHAKE_BUSY:
		admit_busy(o, u, d);
		break;
	case HANDSHAKE_VERSION:
		o->counters.other_versions++;
		refusals_version(&o->refused, u->s->name, u->s->network->version, d->from,
				 d->now_ns);
		break;
	case HANDSHAKE_LIMITED:
		o->counters.limited_set_ups++;
		break;
	case HANDSHAKE_ANNOUNCED:
		o->counters.announcements++;
		break;
	case HANDSHAKE_IGNORED:
		o->counters.ignored_set_ups++;
		break;
	}
	return true;
}

bool handshake_admit_slot(struct network *o, struct sensor *s, unsigned int pair, uint32_t low,
			  const struct datagram *d)
{
	struct set_up u = {
		.s = s, .pair = pair, .in = d->bytes, .len = d->len, .has_slot = true, .low = low
	};

	return admit(o, &u, d);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Sends the time and a cookie for `s`. NULL: the request proves no sensor, and gets random bytes as
 * its cookie. */
static void answer(struct network *o, const struct request *q, const struct sensor *s,
		   const struct datagram *d)
{
	struct request_answer a = { .time_ns = handshake_time(&o->handshake) };
	uint8_t out[SHROUD_DATAGRAM_MAX];

	if (s)
		a.cookie = handshake_requests_cookie(&o->requests, q, s, d->now_ns);
	else
		randombytes_buf(&a.cookie, sizeof(a.cookie));
	o->counters.questions++;
	session_send_to(o, out, request_answer(out, q, &a), d->from, d->from_len);
}

static void take_request(struct network *o, enum handshake_requests_result result,
			 const struct request *q, struct sensor *s, const struct datagram *d)
{
	struct set_up u;

	switch (result) {
	case HANDSHAKE_REQUESTS_NONE:
		o->counters.not_ours++;
		return;
	case HANDSHAKE_REQUESTS_REPEATED:
		o->counters.repeated_requests++;
		return;
	case HANDSHAKE_REQUESTS_LIMITED:
		o->counters.limited_questions++;
		return;
	case HANDSHAKE_REQUESTS_VERSION:
		o->counters.other_versions++;
		refusals_version(&o->refused, NULL, q->version, d->from, d->now_ns);
		return;
	case HANDSHAKE_REQUESTS_STALE:
		o->counters.refused_requests++;
		return;
	case HANDSHAKE_REQUESTS_SET_UP:
		u = (struct set_up){ .s = s, .pair = q->pair, .in = q->rest, .len = q->rest_len };
		o->counters.refused_requests += !admit(o, &u, d);
		return;
	case HANDSHAKE_REQUESTS_UNLISTED:
		o->counters.refused_requests++;
		refusals_key(&o->refused, q->sensor, d->from, d->now_ns);
		break;
	case HANDSHAKE_REQUESTS_UNPROVED:
		o->counters.refused_requests++;
		refusals_proof(&o->refused, s->name, d->from, d->now_ns);
		break;
	case HANDSHAKE_REQUESTS_COOKIE:
		break;
	}
	if (result == HANDSHAKE_REQUESTS_COOKIE)
		wrong_key_proved(&o->wrong_key, d->from);
	else
		wrong_key_expect(&o->wrong_key, d->from, d->now_ns);
	if (result != HANDSHAKE_REQUESTS_COOKIE &&
	    !handshake_requests_answers_stranger(&o->requests, d->now_ns)) {
		o->counters.limited_questions++;
		return;
	}
	answer(o, q, result == HANDSHAKE_REQUESTS_COOKIE ? s : NULL, d);
}

void handshake_admit_request(struct network *o, const struct datagram *d)
{
	struct request q;
	struct sensor *s;
	enum handshake_requests_result result = handshake_requests_take(
		&o->requests, d, o->received_ns / TRYST_INTERVAL_NS, &q, &s);

	take_request(o, result, &q, s, d);
	if (result == HANDSHAKE_REQUESTS_NONE &&
	    wrong_key_datagram(&o->wrong_key, d->len, d->from, d->now_ns))
		refused_list_add(&o->refused.list, BOARD_WRONG_KEY, "", "", d->from);
	if (result != HANDSHAKE_REQUESTS_NONE && result != HANDSHAKE_REQUESTS_REPEATED &&
	    result != HANDSHAKE_REQUESTS_LIMITED)
		sodium_memzero(&q, sizeof(q));
}

/* ---- one key, two processes ------------------------------------------------------------------ */

/* A sensor never returns to a replaced run, unless both runs are alive: two processes with one key,
 * on one machine, or on a machine and its live copy. */
void handshake_admit_begun(struct network *o, struct sensor *s, const struct session *candidate,
			   uint64_t now_ns)
{
	const struct session *present = sensor_session(s);

	if (!present || present->run == candidate->run || candidate->spool || present->spool)
		return;
	if (candidate->run == s->network->earlier_run && !s->final_confirmed) {
		o->counters.alternations++;
		s->twice_ns = now_ns;
		refusals_twice(&o->refused, s->name, &present->address.any, &candidate->address.any,
			       now_ns);
	}
	s->network->earlier_run = present->run;
}
