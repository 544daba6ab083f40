// SPDX-License-Identifier: GPL-2.0
/*
 * Session receive: see session_receive.h. In: untrusted datagrams. Out: messages of listed sensors,
 * to messages.h. Always holds: a datagram has no effect before its tag is verified, and none can
 * make us send more bytes to an address than we received from it.
 */
#include "session_receive.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "collector/combo/intake.h"
#include "collector/combo/one_way.h"
#include "collector/combo/runs.h"
#include "collector/combo/sensor.h"
#include "collector/combo/turns.h"
#include "collector/output/interfaces.h"
#include "collector/output/sensor.h"
#include "common/log.h"
#include "handshake_admit.h"
#include "handshake_forward.h"
#include "messages.h"
#include "sensor.h"
#include "session_send.h"

/* Table entries for an idle sensor: the slots of three intervals, and some hundred addresses of a
 * session. */
#define TABLE_A_SENSOR 608
#define TABLE_LEAST 16384
#define TICK_MAX_MS 10000

/* ---- the list -------------------------------------------------------------------------------- */

void session_receive_init(struct network *o, uint64_t floor_ns)
{
	handshake_init(&o->handshake, floor_ns);
	o->requests.own = &o->handshake.own;
	o->requests.table = &o->table;
	o->requests.sensors = o->sensors;
	handshake_requests_init(&o->requests);
}

static void sessions_end(struct network *o, struct sensor *s)
{
	for (int i = 0; s->network->sessions && i < SENSOR_SESSIONS; i++)
		session_end(&s->network->sessions[i], &o->table);
	s->network->current = s->network->candidate = s->network->old = -1;
	s->network->unacked = 0;
	s->up = false;
	sensors_not_due(s);
	runs_cancel(s);
}

/* Makes each room's part of a new sensor. */
static int sensor_made(void *arg, struct sensor *s)
{
	(void)arg;
	return network_sensor_new(s) ?: combo_sensor_new(s) ?: output_sensor_new(s);
}

static void sensor_freed(void *arg, struct sensor *s)
{
	(void)arg;
	network_sensor_free(s);
	combo_sensor_free(s);
	output_sensor_free(s);
}

/* Handles a sensor that is new, was removed, or has other keys. */
static void keys_changed(struct network *o, struct sensor *s)
{
	if (!sodium_is_zero(s->network->pair, KEY_LEN)) {
		sessions_end(o, s);
		handshake_remove(&o->table, s);
		handshake_requests_remove(&o->table, s);
		combos_forget(o->combos, s);
	}
	if (!s->listed)
		return;
	if (handshake_add(&o->handshake, &o->table, s)) {
		log_line("sensor %s: its public key is invalid", s->name);
		s->listed = false;
	} else if (handshake_requests_add(&o->requests, &o->table, s)) {
		log_line("sensor %s: out of memory; it can set up sessions only by slots", s->name);
	}
}

static void sensor_changed(void *arg, struct sensor *s, unsigned int what)
{
	if (what & SENSOR_NAMED)
		interfaces_forget(s); /* blocks contain the name */
	if (what & SENSOR_LINKTYPES)
		s->combo->refused_told = 0;
	if (what & SENSOR_KEYS)
		keys_changed(arg, s);
}

static struct sensors_user rooms(struct network *o)
{
	return (struct sensors_user){
		.arg = o, .made = sensor_made, .freed = sensor_freed, .changed = sensor_changed
	};
}

int session_receive_sensors(struct network *o, const struct sensors_file *f)
{
	const struct sensors_user user = rooms(o);
	int err = 0;

	if (!o->table.entries)
		err = table_init(&o->table, (uint64_t)f->count * TABLE_A_SENSOR + TABLE_LEAST);
	err = err ?: sensors_apply(o->sensors, f, &user);
	if (err)
		log_line("out of memory for %u sensors", f->count);
	return err;
}

void session_receive_free(struct network *o)
{
	const struct sensors_user user = rooms(o);

	for (unsigned int i = 0; i < o->sensors->count; i++) {
		sessions_end(o, o->sensors->list[i]);
		combos_forget(o->combos, o->sensors->list[i]);
	}
	sensors_free(o->sensors, &user);
	table_free(&o->table);
	sodium_memzero(&o->handshake, sizeof(o->handshake));
	sodium_memzero(&o->requests, sizeof(o->requests));
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void old_begin(struct network *o, struct sensor *s, uint64_t now_ns)
{
	if (s->network->old >= 0)
		session_end(&s->network->sessions[s->network->old], &o->table);
	s->network->old = s->network->current;
	if (s->network->old < 0)
		return;
	s->network->old_until_ns = now_ns + SESSION_RECEIVE_OLD_NS;
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
static void old_end(struct network *o, uint64_t now_ns)
{
	struct sensor *s;

	while ((s = o->old_first)) {
		int old = s->network->old;

		if (old >= 0 && s->network->old_until_ns > now_ns)
			return;
		o->old_first = s->network->old_next;
		if (!o->old_first)
			o->old_last = NULL;
		s->network->old_next = NULL;
		s->network->old_listed = false;
		if (old >= 0)
			session_end(&s->network->sessions[old], &o->table);
		s->network->old = -1;
	}
}

/* Ends the current session at a set-up, which may come from another process. That process encodes
 * the same combos differently and has its own final totals, so datagrams in flight must not count
 * as its own. Renewals stay within one process, and one-way sensors send nothing twice. */
static void old_replace(struct network *o, struct sensor *s)
{
	if (s->network->current < 0)
		return;
	session_end(sensor_session(s), &o->table);
	s->network->current = -1;
}

/* Makes the candidate current, after its first datagram opened: the sensor has the new keys. */
static void candidate_begin(struct network *o, struct sensor *s, uint64_t now_ns)
{
	struct session *c = sensor_candidate(s);
	struct run_terms terms;

	handshake_admit_begun(o, s, c, now_ns);
	if (!c->renewed && !c->one_way)
		old_replace(o, s);
	old_begin(o, s, now_ns);
	s->network->current = s->network->candidate;
	s->network->candidate = -1;
	s->network->unacked = 0;
	s->up = true;
	s->is_deaf = c->one_way;
	if (c->renewed) {
		o->counters.renewals++;
		return;
	}
	o->counters.sessions++;
	s->begun++;
	handshake_forward_terms(&terms, &o->handshake.own, s->network->pair, c);
	intake_session(o->combos, s, &terms, now_ns);
	if (o->begun)
		o->begun(o->begun_user, s);
}

/* Returns the length of a message about the session itself, 0 for other kinds. */
static size_t own_len(uint8_t kind)
{
	switch (kind) {
	case MESSAGE_HEARD:
		return MESSAGE_HEARD_LEN;
	case MESSAGE_ECHO:
		return MESSAGE_ECHO_LEN;
	case MESSAGE_PROBE:
		return MESSAGE_PROBE_LEN;
	case MESSAGE_RENEW:
		return MESSAGE_RENEW_LEN;
	default:
		return 0;
	}
}

static void take_own(struct network *o, struct sensor *s, struct session *session,
		     const uint8_t *message, uint64_t now_ns)
{
	bool present = session == sensor_session(s);
	uint64_t number = load_be(message + 1, 8);

	switch (message[0]) {
	case MESSAGE_HEARD:
		if (number > session->heard && number < session->tx.next)
			session->heard = number;
		break;
	case MESSAGE_ECHO:
		session_echo(session, number);
		break;
	case MESSAGE_PROBE:
		if (present)
			session_send_probe(o, s, message);
		break;
	case MESSAGE_RENEW:
		if (present && handshake_renew(&o->handshake, &o->table, s, message, now_ns))
			session_send(o, s, sensor_candidate(s)->renew, MESSAGE_RENEWED_LEN);
		break;
	}
}

/* Returns whether the message was kept. */
static bool take_any(struct network *o, struct sensor *s, struct session *session,
		     const uint8_t *message, long len, uint64_t now_ns)
{
	size_t own = own_len(message[0]);

	if (!message_limit_allows(&s->network->ration, message[0], now_ns)) {
		o->counters.limited_messages++;
		return false;
	}
	if (own && (size_t)len != own)
		s->ledger.bad_messages++;
	else if (own)
		take_own(o, s, session, message, now_ns);
	else
		return s->combo->waiting ? messages_take_early(s, message, len)
					 : messages_take(o, s, message, len, now_ns);
	return true;
}

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
	if (session->one_way)
		session->address = address; /* only for display; nothing is sent there */
	else if (session != sensor_session(s) || !newest)
		return;
	else if (session_follow(session, &address, d->len))
		o->counters.moves++;
	else if (first && set_up)
		session->confirmed = true; /* our answer arrived there */
}

static void take_opened(struct network *o, struct sensor *s, struct session *session,
			const struct opened *m, const struct datagram *d)
{
	bool first = session == sensor_candidate(s);

	if (first)
		candidate_begin(o, s, d->now_ns);
	s->ledger.received_bytes += d->len;
	s->heard_ns = d->now_ns;
	follow(o, s, session, m->number == session->rx.highest, first, d);
	/* Ignores datagrams in flight of an earlier run or another spool. */
	if (!s->combo->waiting &&
	    (session->run != s->ledger.run || session->spool != s->combo->forward.id))
		return;
	if (take_any(o, s, session, m->message, m->len, d->now_ns))
		shroud_keep(&session->rx, m->number);
	session_send_challenge(o, s, d->now_ns);
	sensors_due(o->sensors, s,
		    ++s->network->unacked >= SESSION_RECEIVE_ACK_EVERY
			    ? 1
			    : d->now_ns + SESSION_RECEIVE_ACK_NS);
}

/* ---- datagrams ------------------------------------------------------------------------------- */

/* Tries one table entry for a datagram. Returns true if the datagram opens, or exceeds its sensor's
 * limits. Changes the table only if it opens. */
static bool session_receive_as(struct network *o, struct table_entry e, const struct datagram *d)
{
	struct sensor *s = o->sensors->list[SENSOR_OWNER_INDEX(e.owner)];
	int kind = SENSOR_OWNER_KIND(e.owner);
	struct session *session;
	struct opened m;
	uint32_t skips;

	if (kind == SENSOR_SLOTS)
		return handshake_admit_slot(o, s, e.low, d);
	if (kind == SENSOR_KEY)
		return false;
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

void session_receive_datagram(struct network *o, const struct datagram *d)
{
	const struct table_entry *e = NULL;
	bool known = false;

	o->counters.datagrams++;
	o->counters.bytes += d->len;
	if (d->len <= SHROUD_OVERHEAD || d->len > SHROUD_DATAGRAM_MAX) {
		o->counters.not_ours++;
		return;
	}
	while ((e = table_find(&o->table, load_word(d->bytes), e))) {
		known = true;
		if (session_receive_as(o, *e, d))
			return;
	}
	if (known)
		o->counters.not_authentic++;
	else
		handshake_admit_request(o, d);
}

void session_receive_batch(struct network *o)
{
	o->received_ns = handshake_time(&o->handshake);
}

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int until_ms(uint64_t at_ns, uint64_t now_ns)
{
	uint64_t ms = at_ns <= now_ns ? 0 : (at_ns - now_ns) / 1000000 + 1;

	return ms < TICK_MAX_MS ? (int)ms : TICK_MAX_MS;
}

int session_receive_tick(struct network *o, uint64_t now_ns)
{
	uint64_t time = handshake_time(&o->handshake);
	uint64_t next_ns = now_ns + TRYST_INTERVAL_NS - time % TRYST_INTERVAL_NS;

	next_ns = least(next_ns, session_send_due(o, now_ns));
	old_end(o, now_ns);
	if (o->old_first)
		next_ns = least(next_ns, o->old_first->network->old_until_ns);
	if (handshake_turn(&o->handshake, &o->table, o->sensors))
		next_ns = 0;
	o->combos->output->state.floor_ns = time;
	return until_ms(next_ns, now_ns);
}

void session_receive_overdue(struct network *o, uint64_t now_ns)
{
	for (unsigned int i = 0; i < o->sensors->count; i++)
		one_way_end(o->combos, o->sensors->list[i], now_ns);
	turns_all(o->combos, now_ns);
}

void session_receive_finish(struct network *o)
{
	session_send_due(o, UINT64_MAX);
}
