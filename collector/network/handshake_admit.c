// SPDX-License-Identifier: GPL-2.0
/* Handshake admit: see handshake_admit.h. */
#include "handshake_admit.h"

#include <sodium.h>
#include <string.h>

#include "session_send.h"
#include "sensor.h"

/* What became of an m1, and where it came from. */
static void admitted(struct network *o, struct sensor *s, enum handshake_result result,
		     const uint8_t *out, size_t out_len, const struct sockaddr_storage *from,
		     socklen_t from_len, uint64_t now_ns)
{
	switch (result) {
	case HANDSHAKE_TAKEN:
		o->counters.set_ups++;
		session_address(&sensor_candidate(s)->address, from, from_len);
		session_send_to(o, out, out_len, (const struct sockaddr *)from, from_len);
		break;
	case HANDSHAKE_BUSY:
		o->counters.busy_set_ups++;
		refusals_busy(&o->refused, s->name, &sensor_session(s)->address.any, from, !out_len,
			      now_ns);
		if (out_len) /* nobody answers a one-way sensor */
			session_send_to(o, out, out_len, (const struct sockaddr *)from, from_len);
		break;
	case HANDSHAKE_VERSION:
		o->counters.other_versions++;
		refusals_version(&o->refused, s->name, s->network->said_version, from, now_ns);
		break;
	case HANDSHAKE_LIMITED:
		o->counters.limited_set_ups++;
		break;
	case HANDSHAKE_ONE_WAY:
		o->counters.announcements++;
		break;
	default:
		o->counters.ignored_set_ups++;
	}
}

bool handshake_admit_slot(struct network *o, struct sensor *s, uint32_t low, const uint8_t *in,
			  size_t len, const struct sockaddr_storage *from, socklen_t from_len,
			  uint64_t now_ns)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];
	size_t out_len = 0;
	enum handshake_result result =
		handshake_take(&o->handshake, &o->table, s, low, out, &out_len, in, len, now_ns);

	if (result != HANDSHAKE_NONE)
		admitted(o, s, result, out, out_len, from, from_len, now_ns);
	return result != HANDSHAKE_NONE;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The time, and a cookie for `s`; NULL: the request proves no sensor, and its cookie is none. */
static void answer(struct network *o, const struct request *q, const struct sensor *s,
		   const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
	struct request_answer a = { .time_ns = handshake_time(&o->handshake) };
	uint8_t out[SHROUD_DATAGRAM_MAX];

	if (s)
		a.cookie = handshake_requests_cookie(&o->requests, s, now_ns);
	else
		randombytes_buf(&a.cookie, sizeof(a.cookie));
	o->counters.questions++;
	session_send_to(o, out, request_answer(out, q, &a), (const struct sockaddr *)from,
			from_len);
}

static void set_up_fresh(struct network *o, struct sensor *s, const struct request *q,
			 const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];
	size_t out_len = 0;
	enum handshake_result result = handshake_take_fresh(&o->handshake, &o->table, s, out,
							    &out_len, q->rest, q->rest_len, now_ns);

	if (result == HANDSHAKE_NONE)
		o->counters.refused_requests++;
	else
		admitted(o, s, result, out, out_len, from, from_len, now_ns);
}

static void take_request(struct network *o, enum handshake_requests_result result,
			 const struct request *q, struct sensor *whose,
			 const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
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
		refusals_version(&o->refused, NULL, q->version, from, now_ns);
		return;
	case HANDSHAKE_REQUESTS_STALE:
		o->counters.refused_requests++;
		return;
	case HANDSHAKE_REQUESTS_SET_UP:
		set_up_fresh(o, whose, q, from, from_len, now_ns);
		return;
	case HANDSHAKE_REQUESTS_UNLISTED:
		o->counters.refused_requests++;
		refusals_key(&o->refused, q->sensor, from, now_ns);
		break;
	case HANDSHAKE_REQUESTS_UNPROVED:
		o->counters.refused_requests++;
		refusals_proof(&o->refused, whose->name, from, now_ns);
		break;
	case HANDSHAKE_REQUESTS_COOKIE:
		break;
	}
	if (result == HANDSHAKE_REQUESTS_COOKIE)
		refusals_known(&o->refused, from);
	else if (!handshake_requests_answers_stranger(&o->requests, now_ns)) {
		o->counters.limited_questions++;
		return;
	}
	answer(o, q, result == HANDSHAKE_REQUESTS_COOKIE ? whose : NULL, from, from_len, now_ns);
}

void handshake_admit_request(struct network *o, const uint8_t *in, size_t len,
			     const struct sockaddr_storage *from, socklen_t from_len,
			     uint64_t now_ns)
{
	struct request q;
	struct sensor *whose;
	uint64_t interval = o->received_ns / TRYST_INTERVAL_NS;
	enum handshake_requests_result result =
		handshake_requests_take(&o->requests, &o->table, o->sensors, &o->handshake.own, &q,
					&whose, in, len, interval, now_ns);

	take_request(o, result, &q, whose, from, from_len, now_ns);
	if (result == HANDSHAKE_REQUESTS_NONE)
		refusals_strange(&o->refused, len, from, now_ns);
	if (result != HANDSHAKE_REQUESTS_NONE && result != HANDSHAKE_REQUESTS_REPEATED &&
	    result != HANDSHAKE_REQUESTS_LIMITED)
		sodium_memzero(&q, sizeof(q));
}

/* ---- one key, two processes ------------------------------------------------------------------ */

/* A run that was given up for another does not come back, unless both live: two processes with one
 * key, on one machine or on two that were copied while they ran. */
void handshake_admit_begun(struct network *o, struct sensor *s, const struct session *candidate,
			   uint64_t now_ns)
{
	const struct session *present = sensor_session(s);

	if (!present || present->run == candidate->run || candidate->spool || present->spool)
		return;
	if (candidate->run == s->network->earlier_run && !s->final_confirmed) {
		o->counters.alternations++;
		refusals_twice(&o->refused, s->name, &present->address.any, &candidate->address.any,
			       now_ns);
	}
	s->network->earlier_run = present->run;
}
