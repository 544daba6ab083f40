// SPDX-License-Identifier: GPL-2.0
/*
 * Session receive: handles the collector's datagrams (session.h, docs/wire.md). In: untrusted
 * datagrams. Out: ACKs to the export thread, messages in the outbox, the next session after a
 * renewal. Every datagram's tag is verified first; others are counted.
 */
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <string.h>
#include <sys/socket.h>

#define SECOND_NS 1000000000LL
#define HEARD_EVERY 8
#define AT_A_TIME 256 /* datagrams per socket, so that a flood leaves time for the rest */
#define PROBE_OLD_NS (10 * SECOND_NS)
#define TOLD_PROBES 4
#define TOLD_EVERY_NS (60 * SECOND_NS)
#define MEASURED_OLD_NS (600 * SECOND_NS) /* paths change */
#define DRIFT_PART 10000		  /* two clocks may drift apart by this part of the time */

/* ---- messages -------------------------------------------------------------------------------- */

static void receive_renewed(struct session *s, const struct session_link *l, const uint8_t *m,
			    uint64_t now_ns)
{
	struct session_path terms = s->path; /* no other thread writes it */
	uint8_t k2[KEY_LEN];
	int sock;

	if (l != s->present || !s->renewing || memcmp(m + 1, s->renewal.public, KEY_LEN))
		return; /* answer to a repeated RENEW */
	sock = sockets_take(&s->reach, &s->peers[l->peer].address);
	if (sock < 0)
		return; /* no route at present; the next RENEW has the same answer */
	if (tryst_renew(k2, l->chain, &s->renewal, m + 1 + KEY_LEN, true) ||
	    session_begin(s, l->peer, sock, k2, &terms, now_ns)) {
		s->bad_datagrams++;
		sockets_give(&s->reach, sock);
	}
	sodium_memzero(k2, sizeof(k2));
	sodium_memzero(&terms, sizeof(terms));
}

/* Goes into the next INFO: at once after the first probes, then once a minute. */
static void receive_measured(struct session *s, uint64_t now_ns)
{
	int64_t ahead_us = session_ahead_ns(s, now_ns) / 1000;
	struct info *i = &s->info;

	i->round_trip_us = (s->round_trip_ns + 999) / 1000;
	i->ahead_us = ahead_us > 0 ? ahead_us : 0;
	i->behind_us = ahead_us < 0 ? -ahead_us : 0;
	if (s->probes < TOLD_PROBES || (s->told_ns && now_ns - s->told_ns < TOLD_EVERY_NS))
		return;
	s->told_ns = now_ns;
	i->change++;
	s->info_due = s->info_due ?: 1;
}

/* The shortest round trip is the most exact. An old one loses exactness while the clocks drift. */
static bool is_better(const struct session *s, uint64_t round_trip, uint64_t now_ns)
{
	uint64_t age = now_ns - s->measured_ns;

	return !s->round_trip_ns || age > MEASURED_OLD_NS ||
	       round_trip <= s->round_trip_ns + age / DRIFT_PART;
}

/* Round trip and offset as in NTP (RFC 5905, section 8): t1 and t4 by our clock, t2 and t3 by the
 * collector's. */
static void receive_probed(struct session *s, const struct session_link *l, const uint8_t *m,
			   uint64_t now_ns)
{
	uint64_t t1 = load_be(m + 1, 8), t2 = load_be(m + 9, 8), t3 = load_be(m + 17, 8);
	uint64_t t4 = session_time(s, l->peer, now_ns), round_trip;

	if (l != s->present || t4 - t1 > PROBE_OLD_NS || t3 - t2 > t4 - t1)
		return;
	round_trip = (t4 - t1) - (t3 - t2);
	pthread_mutex_lock(&s->lock);
	if (is_better(s, round_trip, now_ns)) {
		s->round_trip_ns = round_trip ?: 1;
		s->offset_ns = (int64_t)(t2 - t1) / 2 + (int64_t)(t3 - t4) / 2;
		s->ours_ns = t4 - now_ns;
		s->measured_ns = now_ns;
	}
	pthread_mutex_unlock(&s->lock);
	receive_measured(s, now_ns);
}

/* At its first datagram in the session: a collector may answer a handshake and then accept
 * nothing. */
static void receive_connected(struct session *s, unsigned int peer)
{
	struct session_peer *p = &s->peers[peer];

	s->was_silent = p->told || s->failed;
	s->connected = true;
	p->told = 0;
	p->in_vain = false;
	p->sign = SESSION_NOTHING;
	s->unanswered = s->failed = s->attempts = 0;
	s->heard_peer = peer;
}

static void receive_heard(struct session *s, struct session_link *l)
{
	uint8_t message[MESSAGE_HEARD_LEN] = { MESSAGE_HEARD };

	if (l != s->present)
		return;
	__atomic_store_n(&s->first_send_ns, 0, __ATOMIC_RELAXED);
	if (!l->heard)
		receive_connected(s, l->peer);
	if (++l->heard % HEARD_EVERY)
		return;
	store_be(message + 1, l->rx.highest, 8);
	session_post(s, message, sizeof(message));
}

static void receive_challenge(struct session *s, const struct session_link *l, const uint8_t *m)
{
	uint8_t message[MESSAGE_ECHO_LEN] = { MESSAGE_ECHO };

	if (l != s->present)
		return;
	memcpy(message + 1, m + 1, 8);
	session_post(s, message, sizeof(message));
}

/* Returns the minimum bytes of a known message; 0: unknown. */
static size_t receive_least(uint8_t kind)
{
	switch (kind) {
	case MESSAGE_ACK:
		return ACK_LEN;
	case MESSAGE_PROBED:
		return MESSAGE_PROBED_LEN;
	case MESSAGE_CHALLENGE:
		return MESSAGE_CHALLENGE_LEN;
	case MESSAGE_RENEWED:
		return MESSAGE_RENEWED_LEN;
	case MESSAGE_ORDER:
		return 9;
	default:
		return 0;
	}
}

static void receive_message(struct session *s, struct session_link *l, const uint8_t *m, size_t len,
			    uint64_t now_ns)
{
	size_t least = len ? receive_least(m[0]) : 0;
	struct ack ack;

	receive_heard(s, l);
	if (!least || len < least || (m[0] == MESSAGE_ORDER && !s->order)) {
		s->bad_datagrams++;
		return;
	}
	switch (m[0]) {
	case MESSAGE_ACK:
		ack_read(&ack, m, len);
		session_post_ack(s, l->generation, &ack);
		break;
	case MESSAGE_PROBED:
		receive_probed(s, l, m, now_ns);
		break;
	case MESSAGE_CHALLENGE:
		receive_challenge(s, l, m);
		break;
	case MESSAGE_RENEWED:
		receive_renewed(s, l, m, now_ns);
		break;
	case MESSAGE_ORDER:
		/* Each collector has its own numbers. */
		if (s->present && l->peer == s->present->peer)
			s->order(s->order_arg, load_be(m + 1, 8), (const char *)m + 9, len - 9);
		break;
	}
}

/* ---- datagrams ------------------------------------------------------------------------------- */

void session_receive_datagram(struct session *s, const uint8_t *in, size_t len, uint64_t now_ns)
{
	uint8_t message[SHROUD_DATAGRAM_MAX];
	const struct table_entry *e = NULL;
	uint64_t number;
	long n;

	while (len > SHROUD_OVERHEAD && len <= sizeof(message) &&
	       (e = table_find(&s->table, load_word(in), e))) {
		struct session_link *l = &s->links[e->owner - 1];

		n = shroud_open(&l->rx, &s->table, e->low, &number, message, in, len);
		if (n >= 0) {
			receive_message(s, l, message, n, now_ns);
			sodium_memzero(message, n);
			return;
		}
	}
	if (!session_handshake_answer(s, in, len, now_ns))
		s->bad_datagrams++;
}

/* The local collector has closed its end: there will be no session with it any more. */
static void receive_ended(struct session *s, uint64_t now_ns)
{
	s->reach.sockets[0].used = false;
	s->reach.ended = true;
	session_retire(s, now_ns);
}

static void receive_socket(struct session *s, int sock, uint64_t now_ns)
{
	uint8_t in[SHROUD_DATAGRAM_MAX + 1]; /* one more, to detect longer datagrams */
	ssize_t n;

	for (int i = 0; i < AT_A_TIME; i++) {
		n = recv(sock, in, sizeof(in), MSG_DONTWAIT);
		if (!n && s->reach.sockets[0].family == AF_UNIX) {
			receive_ended(s, now_ns);
			return;
		}
		if (n >= 0)
			session_receive_datagram(s, in, n, now_ns);
		else if (errno != ECONNREFUSED)
			return;
		else if (s->present && s->present->sock == sock)
			session_refused(
				s); /* an ICMP message, reported once; more datagrams may follow */
		else if (s->asked.sock == sock)
			session_sign(s, SESSION_PORT_CLOSED);
	}
}

void session_receive(struct session *s, uint64_t now_ns)
{
	for (int i = 0; i < 2 * SOCKETS_MAX && s->ops->receives; i++)
		if (s->reach.sockets[i].used)
			receive_socket(s, s->reach.sockets[i].fd, now_ns);
}

unsigned int session_poll(const struct session *s, struct pollfd *p)
{
	unsigned int n = 0;

	for (int i = 0; i < 2 * SOCKETS_MAX && s->ops->receives; i++)
		if (s->reach.sockets[i].used)
			p[n++] = (struct pollfd){ .fd = s->reach.sockets[i].fd, .events = POLLIN };
	return n;
}
