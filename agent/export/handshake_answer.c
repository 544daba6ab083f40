// SPDX-License-Identifier: GPL-2.0
/*
 * Handshake answer: takes answers to the attempt that handshake.c made. In: untrusted datagrams.
 * Out: a session, or an m1 under the collector's cookie, or the sign of a refusal. Also the
 * collector's time.
 */
#include "session.h"

#include <errno.h>
#include <sodium.h>

#include "common/log.h"

#define CLOCK_GOOD_NS 10000000000LL /* smaller clock errors are not corrected */

/* Sets the collector's clock to `time_ns`. */
static void answer_time(struct session *s, unsigned int peer, uint64_t time_ns, uint64_t now_ns)
{
	struct session_peer *p = &s->peers[peer];
	int64_t wrong = time_ns - session_time(s, peer, now_ns);

	if (wrong < 0)
		wrong = -(uint64_t)wrong;
	if (wrong < 0 || wrong > CLOCK_GOOD_NS) {
		p->clock_set = true;
		p->clock_base_ns = time_ns - now_ns;
	}
}

/* A new path and a new clock. */
static void answer_measure_anew(struct session *s)
{
	s->probes = 0;
	s->next_probe_ns = s->told_ns = 0;
	pthread_mutex_lock(&s->lock);
	s->round_trip_ns = 0;
	pthread_mutex_unlock(&s->lock);
}

/* It stays in the file. */
static void answer_spool_refused(struct session *s, uint64_t now_ns)
{
	log_line("collector %s: cannot open what --spool has of an earlier process; it is not sent",
		 s->peers[s->asked.peer].address.name);
	s->spools[s->asked.spool - 1].is_for[s->asked.peer] = false;
	s->next_init_ns = now_ns;
}

/* The time is known: later answers to the requests are ignored. */
static void answer_no_more_requests(struct session_asked *a)
{
	a->requested = 0;
	a->request_ns = 0;
	sodium_memzero(a->requests, sizeof(a->requests));
}

/* Whether it is a welcome. */
static bool answer_terms(struct session *s, const struct tryst_welcome *welcome, uint64_t now_ns)
{
	struct session_asked *a = &s->asked;

	if (welcome->flags & TRYST_BUSY) {
		session_sign(s, SESSION_KEY_IN_USE);
		return false;
	}
	if (welcome->window < SHROUD_WINDOW_MIN) /* no message could be sent */
		return false;
	/* It has sent the time already. A delayed answer would set the clock back. */
	answer_no_more_requests(a);
	answer_time(s, a->peer, welcome->time_ns, now_ns);
	if (s->trying != a->peer)
		s->unanswered = 0;
	s->trying = a->peer;
	if (a->spool && !(welcome->flags & TRYST_SPOOL)) {
		answer_spool_refused(s, now_ns);
		return false;
	}
	return true;
}

static void answer_begin(struct session *s, const struct tryst_welcome *welcome,
			 uint8_t k2[KEY_LEN], uint64_t now_ns)
{
	struct session_asked *a = &s->asked;
	struct session_path terms = { .sensor_id = welcome->sensor_id,
				      .padded = s->pad,
				      .spool = a->spool };

	terms.window = welcome->window < s->window ? welcome->window : s->window;
	answer_measure_anew(s);
	s->next_better_ns = now_ns + SESSION_BETTER_NS;
	if (!session_begin(s, a->peer, a->sock, k2, &terms, now_ns))
		a->sock = -1; /* the session's now */
}

static bool answer_welcome(struct session *s, const uint8_t *in, size_t len, uint64_t now_ns)
{
	struct session_asked *a = &s->asked;
	struct tryst_welcome welcome;
	uint8_t k2[KEY_LEN];
	int err = a->waits ? tryst_finish(&a->tryst, &s->own, &welcome, k2, in, len) : -EBADMSG;

	if (err == -EPROTO)
		session_sign(s, SESSION_OTHER_VERSION);
	if (err)
		return err == -EPROTO;
	a->waits = false;
	if (answer_terms(s, &welcome, now_ns))
		answer_begin(s, &welcome, k2, now_ns);
	sodium_memzero(k2, sizeof(k2));
	return true;
}

/* An answer with the time and a cookie: sends the m1 under the cookie. */
static bool answer_request(struct session *s, const uint8_t *in, size_t len, uint64_t now_ns)
{
	struct session_asked *a = &s->asked;
	struct request_answer answer;
	int err = -EBADMSG;
	unsigned int i = 0;

	while (i < a->requested && err == -EBADMSG)
		err = request_answered(&a->requests[i++], &answer, in, len);
	if (err == -EPROTO)
		session_sign(s, SESSION_OTHER_VERSION);
	if (err)
		return err == -EPROTO;
	a->requests[i - 1] = a->requests[--a->requested];
	if (a->told) /* by the answer to the other request: the path is slow */
		return true;
	a->told = true;
	a->request_ns = 0;
	session_sign(s, SESSION_REQUEST_ANSWERED);
	answer_time(s, a->peer, answer.time_ns, now_ns);
	session_handshake_fresh(s, answer.cookie, now_ns);
	return true;
}

bool session_handshake_answer(struct session *s, const uint8_t *in, size_t len, uint64_t now_ns)
{
	return answer_welcome(s, in, len, now_ns) || answer_request(s, in, len, now_ns);
}
