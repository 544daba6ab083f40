// SPDX-License-Identifier: GPL-2.0
/*
 * Handshake: decides which collector to ask for a session, when, and how. In: the time, unanswered
 * attempts. Out: an m1 under an unused slot. Without a quick answer, or an unused slot, a request
 * for a cookie, and an m1 under the cookie (wire/request.h). Each attempt uses a new port.
 * handshake_answer.c takes the answers, wire/tryst.h has the cryptography.
 */
#include "session.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/log.h"
#include "handshake_slots.h"

#define GIVEN_UP 3 /* unanswered attempts, if there is another collector */

/* ---- addresses ------------------------------------------------------------------------------- */

uint32_t *session_slots_used(struct session_key *k, uint64_t interval)
{
	uint32_t *used = &k->slots[interval % 3].used;

	if (k->slots[interval % 3].interval != interval)
		*used = 0;
	k->slots[interval % 3].interval = interval;
	return used;
}

/* Chooses a random unused slot of an interval. Returns whether there is one. */
static bool slot_choose(struct session_key *k, uint64_t interval, uint64_t *slot)
{
	uint64_t slots[TRYST_SLOTS];
	uint32_t *used = session_slots_used(k, interval), j;

	if (*used == UINT32_MAX)
		return false;
	tryst_slots(slots, k->pair, interval);
	do {
		do
			j = randombytes_uniform(TRYST_SLOTS);
		while (*used & 1U << j);
		*used |= 1U << j;
		*slot = slots[j];
		if (handshake_slots_take(*slot, interval)) /* nor used by an earlier agent */
			return true;
	} while (*used != UINT32_MAX);
	return false;
}

_Static_assert(TRYST_SLOTS == 32, "a bit each");

/* ---- what goes out --------------------------------------------------------------------------- */

uint32_t session_spool_for(const struct session *s, unsigned int peer)
{
	for (unsigned int i = 0; i < s->spool_count; i++)
		if (s->spools[i].is_for[peer] &&
		    !__atomic_load_n(&s->spools[i].done, __ATOMIC_ACQUIRE))
			return i + 1;
	return 0;
}

/* The collector certainly has the key of this session, and may have the other one. */
static const struct session_spool_key *spool_key(const struct session *s,
						 const struct session_spool *p)
{
	const struct session_peer *peer = &s->peers[s->asked.peer];
	const struct session_spool_key *keys = p->keys[s->asked.peer];

	for (unsigned int i = 0; i < SESSION_KEYS; i++)
		if (keys[i].has && !memcmp(keys[i].public, peer->keys[peer->key].public, KEY_LEN))
			return &keys[i];
	return keys[0].has ? &keys[0] : &keys[1];
}

/* A session for a spool: the spool's key comes before the info of its writer. */
static void hello_spool(const struct session *s, struct tryst_hello *hello)
{
	const struct session_spool *p = &s->spools[s->asked.spool - 1];

	memcpy(hello->info, spool_key(s, p)->hello, SPOOL_HELLO_LEN);
	memcpy(hello->info + SPOOL_HELLO_LEN, p->info.text, p->info.len);
	hello->info_len = SPOOL_HELLO_LEN + p->info.len;
	hello->run = p->run;
	hello->flags |= TRYST_SPOOL;
}

/* With `exported`, a collector that does not know this run learns what it has missed. */
static void hello_info(struct session *s, struct tryst_hello *hello)
{
	session_keys_tell(&s->peers[s->asked.peer], s->info.trusts);
	s->info.exported = __atomic_load_n(s->exported, __ATOMIC_RELAXED);
	hello->info_len = info_write((char *)hello->info, &s->info);
}

/* Writes an m1 of `len` bytes under a slot or a cookie. Returns whether it did. */
static bool write_init(struct session *s, uint8_t *out, uint64_t slot, size_t len, uint64_t now_ns)
{
	const struct session_key *k = session_peer_key(&s->peers[s->asked.peer]);
	const struct tryst_keys keys = { &s->own, k->public, k->pair };
	struct tryst_hello hello = {
		.run = s->run,
		.time_ns = session_time(s, s->asked.peer, now_ns),
		.window = s->window,
		.flags = s->pad ? TRYST_PADDED : 0,
	};

	memcpy(hello.instance, s->instance, sizeof(hello.instance));
	if (s->asked.spool)
		hello_spool(s, &hello);
	else
		hello_info(s, &hello);
	s->asked.waits = tryst_init(&s->asked.tryst, out, &keys, slot, &hello, len) > 0;
	return s->asked.waits;
}

/* A missing collector is just silent. The next attempt is the retry. */
static void send_out(struct session *s, const uint8_t *out, size_t len)
{
	if (send(s->asked.sock, out, len, MSG_NOSIGNAL) >= 0)
		return;
	if (errno == EMSGSIZE)
		session_sign(s, SESSION_PATH_MTU);
	else if (errno == ENETUNREACH || errno == EHOSTUNREACH)
		session_no_route(s, s->asked.peer, -errno);
}

static void send_slot(struct session *s, uint64_t slot, uint64_t now_ns)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];

	if (write_init(s, out, slot, SHROUD_DATAGRAM_PADDED, now_ns))
		send_out(s, out, SHROUD_DATAGRAM_PADDED);
}

static bool time_is_known(const struct session_peer *p, uint64_t time_ns)
{
	return time_ns >= SESSION_YEAR_2020_NS || p->clock_set;
}

/* First with a date, which the collector prefers, unless the sensor does not know the time. The
 * collector refuses a date that is minutes wrong, so a request without a date follows. */
static void send_request(struct session *s, uint64_t now_ns)
{
	struct session_peer *p = &s->peers[s->asked.peer];
	const struct session_key *k = session_peer_key(p);
	uint64_t time_ns = session_time(s, s->asked.peer, now_ns);
	bool dated = !s->asked.requested && time_is_known(p, time_ns);
	uint8_t out[SHROUD_DATAGRAM_MAX];

	s->asked.request_ns = dated ? now_ns + SESSION_UNDATED_NS : 0;
	if (request_cookie(&s->asked.requests[s->asked.requested], out,
			   &(struct request_from){ &s->own, k->public, time_ns,
						   dated ? time_ns / TRYST_INTERVAL_NS
							 : REQUEST_UNDATED },
			   k->pair))
		return;
	s->asked.requested++;
	send_out(s, out, REQUEST_LEN);
}

void session_handshake_fresh(struct session *s, uint64_t cookie, uint64_t now_ns)
{
	const struct session_key *k = session_peer_key(&s->peers[s->asked.peer]);
	uint64_t time_ns = session_time(s, s->asked.peer, now_ns);
	uint8_t m1[SHROUD_DATAGRAM_MAX], out[SHROUD_DATAGRAM_MAX];

	if (write_init(s, m1, cookie, REQUEST_INIT_LEN, now_ns) &&
	    !request_set_up(out, m1,
			    &(struct request_from){ &s->own, k->public, time_ns,
						    time_ns / TRYST_INTERVAL_NS }))
		send_out(s, out, REQUEST_LEN);
}

/* ---- who is asked ---------------------------------------------------------------------------- */

void session_ask(struct session *s, unsigned int peer, uint64_t now_ns)
{
	struct session_peer *p = &s->peers[peer];
	uint64_t time_ns = session_time(s, peer, now_ns), slot;

	session_keys_turn(p);
	log_verbose("collector %s: asking for a session", p->address.name);
	sockets_give(&s->reach, s->asked.sock);
	sodium_memzero(&s->asked, sizeof(s->asked));
	s->asked.peer = peer;
	s->asked.spool = session_spool_for(s, peer);
	s->asked.sock = sockets_take(&s->reach, &p->address);
	if (p->sign < SESSION_PORT_CLOSED) /* our own network may have changed */
		p->sign = SESSION_NOTHING;
	if (s->asked.sock < 0) {
		session_no_route(s, peer, s->asked.sock);
		return;
	}
	if (time_is_known(p, time_ns) &&
	    slot_choose(session_peer_key(p), time_ns / TRYST_INTERVAL_NS, &slot)) {
		send_slot(s, slot, now_ns);
		s->asked.request_ns = now_ns + SESSION_REQUEST_NS;
	} else {
		send_request(s, now_ns);
	}
}

uint64_t session_ask_on(struct session *s, uint64_t now_ns)
{
	if (s->asked.request_ns && now_ns >= s->asked.request_ns)
		send_request(s, now_ns);
	return s->asked.request_ns;
}

static void next_peer(struct session *s)
{
	unsigned int old = s->trying;

	if (s->peer_count == 1 || s->unanswered < (s->failed >= s->peer_count ? 1 : GIVEN_UP))
		return;
	s->trying = (s->trying + 1) % s->peer_count;
	s->unanswered = 0;
	if (s->failed++ < s->peer_count || !session_failure_reason_is_told(s, old))
		session_tell_trying(s, old);
}

void session_handshake(struct session *s, uint64_t now_ns)
{
	next_peer(s);
	if (s->unanswered++ >= 2 && s->peer_count == 1)
		session_tell_asking(s, s->trying);
	s->next_init_ns = now_ns + handshake_retry_ms(s->attempts++) * 1000000ULL;
	session_ask(s, s->trying, now_ns);
}
