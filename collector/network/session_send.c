// SPDX-License-Identifier: GPL-2.0
/*
 * Session send: see session_send.h. In: messages and their times. Out: datagrams. Always holds: an
 * unconfirmed address is sent no more bytes than it sent to us (session_seal).
 */
#include "session_send.h"

#include <errno.h>
#include <string.h>

#include "collector/combo/intake.h"
#include "collector/combo/runs.h"
#include "sensor.h"

void session_send_to(struct network *o, const uint8_t *out, size_t len, const struct sockaddr *to,
		     socklen_t to_len)
{
	sendto(o->sock, out, len, MSG_DONTWAIT, to, to_len);
	o->counters.sent++;
}

int session_send(struct network *o, struct sensor *s, const uint8_t *message, size_t len)
{
	uint8_t out[SHROUD_DATAGRAM_MAX];
	struct session *session = sensor_session(s);
	size_t out_len;

	if (!session)
		return -ENOTCONN;
	if (session->no_acks)
		return -EOPNOTSUPP;
	out_len = session_seal(session, out, message, len);
	if (!out_len)
		return -EAGAIN;
	session_send_to(o, out, out_len, &session->address.any, session->address.len);
	return 0;
}

void session_send_ack(struct network *o, struct sensor *s, uint64_t now_ns)
{
	const struct session *session = sensor_session(s);
	uint8_t message[ACK_LEN];
	struct ack ack = { 0 };

	sensors_not_due(s);
	s->due_ns = 0;
	if (!session)
		return;
	intake_tick(o->combos, s, now_ns);
	runs_ack(o->combos, s, &ack); /* may end the run, even if no ACK is sent */
	ack.highest = session->rx.highest;
	shroud_received(&session->rx, ack.received);
	ack_write(message, &ack);
	if (session_send(o, s, message, sizeof(message)) == 0)
		s->network->unacked = 0;
}

void session_send_challenge(struct network *o, struct sensor *s, uint64_t now_ns)
{
	struct session *session = sensor_session(s);
	uint8_t message[MESSAGE_CHALLENGE_LEN] = { MESSAGE_CHALLENGE };

	if (session->confirmed ||
	    (session->challenged_ns && now_ns - session->challenged_ns < SESSION_SEND_CHALLENGE_NS))
		return;
	store_be(message + 1, session->cookie, 8);
	if (session_send(o, s, message, sizeof(message)) == 0)
		session->challenged_ns = now_ns;
}

void session_send_probe(struct network *o, struct sensor *s, const uint8_t *in)
{
	uint8_t message[MESSAGE_PROBED_LEN] = { MESSAGE_PROBED };

	memcpy(message + 1, in + 1, 8);
	store_be(message + 9, o->received_ns, 8);
	store_be(message + 17, handshake_time(&o->handshake), 8);
	session_send(o, s, message, sizeof(message));
}

uint64_t session_send_due(struct network *o, uint64_t now_ns)
{
	struct sensor *next;
	uint64_t next_ns = UINT64_MAX;

	for (struct sensor *s = o->sensors->due; s; s = next) {
		next = s->due_next;
		if (s->due_ns <= now_ns)
			session_send_ack(o, s, now_ns);
		if (s->due_ns && s->due_ns < next_ns)
			next_ns = s->due_ns;
	}
	return next_ns;
}
