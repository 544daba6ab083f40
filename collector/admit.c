// SPDX-License-Identifier: GPL-2.0
/* Admit: see admit.h. */
#include "admit.h"

#include <sodium.h>
#include <string.h>

#include "reply.h"

/* What became of an m1, and where it came from. */
static void admitted(struct open *o, struct sensor *s, enum meet_result result, const uint8_t *out,
		     size_t out_len, const struct sockaddr_storage *from, socklen_t from_len,
		     uint64_t now_ns)
{
	switch (result) {
	case MEET_TAKEN:
		o->counters.set_ups++;
		session_address(&s->sessions[s->candidate].address, from, from_len);
		reply_to(o, out, out_len, (const struct sockaddr *)from, from_len);
		break;
	case MEET_BUSY:
		o->counters.busy_set_ups++;
		refused_busy(&o->refused, s->name, &s->sessions[s->current].address.any, from,
			     !out_len, now_ns);
		if (out_len) /* nobody answers a one-way sensor */
			reply_to(o, out, out_len, (const struct sockaddr *)from, from_len);
		break;
	case MEET_VERSION:
		o->counters.other_versions++;
		refused_version(&o->refused, s->name, s->said_version, from, now_ns);
		break;
	case MEET_LIMITED:
		o->counters.limited_set_ups++;
		break;
	case MEET_ONE_WAY:
		o->counters.announcements++;
		break;
	default:
		o->counters.ignored_set_ups++;
	}
}

bool admit_slot(struct open *o, struct sensor *s, uint32_t low, const uint8_t *in, size_t len,
		const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];
	size_t out_len = 0;
	enum meet_result result =
		meet_take(&o->meet, &o->table, s, low, out, &out_len, in, len, now_ns);

	if (result != MEET_NONE)
		admitted(o, s, result, out, out_len, from, from_len, now_ns);
	return result != MEET_NONE;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The time, and a cookie for `s`; NULL: the request proves no sensor, and its cookie is none. */
static void answer(struct open *o, const struct request *q, const struct sensor *s,
		   const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
	struct request_answer a = { .time_ns = meet_time(&o->meet) };
	uint8_t out[SHROUD_DATAGRAM_MAX];

	if (s)
		a.cookie = requests_cookie(&o->requests, s, now_ns);
	else
		randombytes_buf(&a.cookie, sizeof(a.cookie));
	o->counters.questions++;
	reply_to(o, out, request_answer(out, q, &a), (const struct sockaddr *)from, from_len);
}

static void set_up_fresh(struct open *o, struct sensor *s, const struct request *q,
			 const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];
	size_t out_len = 0;
	enum meet_result result = meet_take_fresh(&o->meet, &o->table, s, out, &out_len, q->rest,
						  q->rest_len, now_ns);

	if (result == MEET_NONE)
		o->counters.refused_requests++;
	else
		admitted(o, s, result, out, out_len, from, from_len, now_ns);
}

static void take_request(struct open *o, enum requests_result result, const struct request *q,
			 struct sensor *whose, const struct sockaddr_storage *from,
			 socklen_t from_len, uint64_t now_ns)
{
	switch (result) {
	case REQUESTS_NONE:
		o->counters.not_ours++;
		return;
	case REQUESTS_REPEATED:
		o->counters.repeated_requests++;
		return;
	case REQUESTS_LIMITED:
		o->counters.limited_questions++;
		return;
	case REQUESTS_VERSION:
		o->counters.other_versions++;
		refused_version(&o->refused, NULL, q->version, from, now_ns);
		return;
	case REQUESTS_STALE:
		o->counters.refused_requests++;
		return;
	case REQUESTS_SET_UP:
		set_up_fresh(o, whose, q, from, from_len, now_ns);
		return;
	case REQUESTS_UNLISTED:
		o->counters.refused_requests++;
		refused_key(&o->refused, q->sensor, from, now_ns);
		break;
	case REQUESTS_UNPROVED:
		o->counters.refused_requests++;
		refused_proof(&o->refused, whose->name, from, now_ns);
		break;
	case REQUESTS_COOKIE:
		break;
	}
	if (result == REQUESTS_COOKIE)
		refused_known(&o->refused, from);
	else if (!requests_answers_stranger(&o->requests, now_ns)) {
		o->counters.limited_questions++;
		return;
	}
	answer(o, q, result == REQUESTS_COOKIE ? whose : NULL, from, from_len, now_ns);
}

void admit_request(struct open *o, const uint8_t *in, size_t len,
		   const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
	struct request q;
	struct sensor *whose;
	uint64_t interval = o->received_ns / TRYST_INTERVAL_NS;
	enum requests_result result = requests_take(&o->requests, &o->table, o->sensors,
						    &o->meet.own, &q, &whose, in, len, interval,
						    now_ns);

	take_request(o, result, &q, whose, from, from_len, now_ns);
	if (result == REQUESTS_NONE)
		refused_strange(&o->refused, len, from, now_ns);
	if (result != REQUESTS_NONE && result != REQUESTS_REPEATED && result != REQUESTS_LIMITED)
		sodium_memzero(&q, sizeof(q));
}

/* ---- one key, two processes ------------------------------------------------------------------ */

/* A run that was given up for another does not come back, unless both live: two processes with one
 * key, on one machine or on two that were copied while they ran. */
void admit_begun(struct open *o, struct sensor *s, const struct session *candidate, uint64_t now_ns)
{
	const struct session *present = s->current < 0 ? NULL : &s->sessions[s->current];

	if (!present || present->run == candidate->run || candidate->spool || present->spool)
		return;
	if (candidate->run == s->earlier_run && !s->final_confirmed) {
		o->counters.alternations++;
		refused_twice(&o->refused, s->name, &present->address.any, &candidate->address.any,
			      now_ns);
	}
	s->earlier_run = present->run;
}
