// SPDX-License-Identifier: GPL-2.0
/*
 * Session receive: see session_receive.h. Always holds: a datagram has no effect before its tag is
 * verified, and none can make us send more bytes to an address than we received from it.
 */
#include "session_receive.h"

#include "collector/combo/sensor.h"
#include "collector/output/sensor.h"
#include "connections.h"
#include "handshake_admit.h"
#include "messages.h"
#include "sensor.h"
#include "sensor_sessions.h"
#include "session_send.h"

#define GROUP 64 /* datagrams, prefetched together */
#define CACHE_LINE 64

/* An authentic datagram's message. */
struct opened {
	uint64_t number; /* of the datagram */
	long len;	 /* bytes; 0: its padding is malformed */
	uint8_t message[SHROUD_DATAGRAM_MAX];
};

/* Takes the sensor's address from an authentic datagram. `first`: the session's first one. */
static void follow(struct network *o, struct sensor *s, struct session *session, bool newest,
		   bool first, const struct datagram *d)
{
	bool set_up = session->address.len != 0;
	struct session_address address;

	session_address(&address, d->from, d->from_len);
	if (session->no_acks)
		session->address = address; /* only for display; nothing is sent there */
	else if (session != sensor_session(s) || !newest)
		return;
	else if (session_follow(session, &address, d->len))
		o->counters.moves++;
	else if (first && set_up)
		session->confirmed = true; /* our answer arrived there */
}

/* Whether a datagram belongs to the current run, or to the run that waits. Datagrams of an earlier
 * run or another spool were in flight. */
static bool is_of_run(const struct sensor *s, const struct session *session)
{
	const struct combo_sensor *c = s->combo;

	if (c->waiting)
		return session->run == c->next.run && session->spool == c->next.forward.id;
	return session->run == s->ledger.run && session->spool == c->forward.id;
}

static void take_opened(struct network *o, struct sensor *s, struct session *session,
			const struct opened *m, const struct datagram *d)
{
	bool first = session == sensor_candidate(s);

	if (first) {
		connections_begun(o, s, session, d->from, d->now_ns);
		sensor_sessions_begin(o, s, d->now_ns);
	}
	s->ledger.received_bytes += d->len;
	s->heard_ns = d->now_ns;
	follow(o, s, session, m->number == session->rx.highest, first, d);
	if (!is_of_run(s, session))
		return;
	if (messages_take(o, s, session, m->message, m->len, d->now_ns))
		shroud_keep(&session->rx, m->number);
	session_send_challenge(o, s, d->now_ns);
	/* After a FLOOR, the sensor may send on only when it knows that the floor is passed. */
	if (++s->network->unacked >= SESSION_RECEIVE_ACK_AT_ONCE)
		session_send_ack(o, s, d->now_ns);
	else if (s->network->unacked >= SESSION_RECEIVE_ACK_EVERY || m->message[0] == MESSAGE_FLOOR)
		sensors_due(o->sensors, s, 1);
	else
		sensors_due(o->sensors, s, d->now_ns + SESSION_RECEIVE_ACK_NS);
}

/* Tries one table entry for a datagram. Returns true if the datagram opens, or exceeds its sensor's
 * limits. Changes the table only if it opens. */
static bool session_receive_as(struct network *o, struct table_entry e, const struct datagram *d)
{
	struct sensor *s = o->sensors->list[SENSOR_OWNER_INDEX(e.owner)];
	int kind = SENSOR_OWNER_KIND(e.owner);
	struct session *session;
	struct opened m;
	uint32_t skips;

	if (kind == SENSOR_KEY)
		return false;
	if (kind == SENSOR_SLOTS || kind > SENSOR_KEY)
		return handshake_admit_slot(o, s, SENSOR_KIND_PAIR(kind), e.low, d);
	session = &s->network->sessions[kind - SENSOR_SESSION];
	skips = shroud_skips(&session->rx, e.low);
	if (skips && !message_skips_allowed(&s->network->skips, d->now_ns)) {
		o->counters.limited_messages++;
		return true;
	}
	m.len = shroud_open(&session->rx, &o->table, e.low, &m.number, m.message, d->bytes, d->len);
	if (m.len < 0)
		return false;
	if (skips)
		message_skips_add(&s->network->skips, skips, d->now_ns);
	else if (m.number < session->rx.highest)
		message_skips_came(&s->network->skips, d->now_ns);
	take_opened(o, s, session, &m, d);
	return true;
}

/* `unknown`: the table does not have the datagram's address. */
static void session_receive_datagram(struct network *o, const struct datagram *d, bool unknown)
{
	const struct table_entry *e = NULL;
	bool known = false;

	o->counters.datagrams++;
	o->counters.bytes += d->len;
	if (d->len <= SHROUD_OVERHEAD || d->len > SHROUD_DATAGRAM_MAX) {
		o->counters.not_ours++;
		return;
	}
	while (!unknown && (e = table_find(&o->table, load_word(d->bytes), e))) {
		known = true;
		if (session_receive_as(o, *e, d))
			return;
	}
	if (known)
		o->counters.not_authentic++;
	else
		handshake_admit_request(o, d);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* The members of these structs that datagrams and combos use come first. */
#define SENSOR_BYTES offsetof(struct sensor, ledger.now.tail)
#define NETWORK_BYTES offsetof(struct network_sensor, limit)
#define COMBO_BYTES offsetof(struct combo_sensor, next)
#define OUTPUT_BYTES offsetof(struct output_sensor, interfaces.list[1])
#define SESSION_BYTES offsetof(struct session, credit)

static void prefetch(const void *p, size_t len)
{
	for (size_t at = 0; at < len; at += CACHE_LINE)
		__builtin_prefetch((const uint8_t *)p + at, 1);
	__builtin_prefetch((const uint8_t *)p + len - 1, 1);
}

/* A sensor's session that takes datagrams of a group. */
struct taker {
	const struct sensor *sensor;
	unsigned int session;
};

/* Finds the sessions of a group's datagrams, and sets `unknown` for datagrams that the table has
 * no address of. Returns the number of sessions. */
static unsigned int group_find(const struct network *o, const struct datagram *list,
			       unsigned int count, struct taker *of, bool *unknown)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < count; i++)
		if (list[i].len >= SHROUD_ADDRESS_LEN)
			table_prefetch(&o->table, load_word(list[i].bytes));
	for (unsigned int i = 0; i < count; i++) {
		const struct table_entry *e = NULL;
		unsigned int kind;

		if (list[i].len >= SHROUD_ADDRESS_LEN)
			e = table_find(&o->table, load_word(list[i].bytes), NULL);
		unknown[i] = !e;
		kind = e ? SENSOR_OWNER_KIND(e->owner) : SENSOR_SLOTS;
		if (kind == SENSOR_SLOTS || kind >= SENSOR_KEY)
			continue;
		of[n].sensor = o->sensors->list[SENSOR_OWNER_INDEX(e->owner)];
		of[n].session = kind - SENSOR_SESSION;
		n += !n || of[n].sensor != of[n - 1].sensor; /* most pieces of a combo follow */
	}
	return n;
}

/* Among thousands of sensors, a datagram's sensor is in no cache. Each loop prefetches what the
 * next one reads, so a group waits for memory only a few times. */
static void group_prefetch(const struct network *o, const struct taker *of, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		prefetch(of[i].sensor, SENSOR_BYTES);
	for (unsigned int i = 0; i < count; i++) {
		prefetch(of[i].sensor->network, NETWORK_BYTES);
		prefetch(of[i].sensor->combo, COMBO_BYTES);
		prefetch(of[i].sensor->output, OUTPUT_BYTES);
	}
	for (unsigned int i = 0; i < count; i++)
		prefetch(&of[i].sensor->network->sessions[of[i].session], SESSION_BYTES);
	for (unsigned int i = 0; i < count; i++)
		shroud_prefetch(&of[i].sensor->network->sessions[of[i].session].rx, &o->table);
}

static void session_receive_group(struct network *o, const struct datagram *list,
				  unsigned int count)
{
	struct taker of[GROUP];
	bool unknown[GROUP];
	uint64_t added = o->table.added;

	group_prefetch(o, of, group_find(o, list, count, of, unknown));
	for (unsigned int i = 0; i < count; i++)
		session_receive_datagram(o, &list[i], unknown[i] && o->table.added == added);
}

void session_receive_batch(struct network *o, const struct datagram *list, unsigned int count)
{
	o->received_ns = handshake_time(&o->handshake);
	for (unsigned int at = 0; at < count; at += GROUP)
		session_receive_group(o, list + at, count - at < GROUP ? count - at : GROUP);
}
