// SPDX-License-Identifier: GPL-2.0
/*
 * Open: see open.h. In: datagrams of anybody's making. Out: messages of sensors that are in the
 * file, to take.h. Always holds: nothing is acted on before its tag verified, and nothing in a
 * datagram can make us send more bytes to an address than came from it.
 */
#include "open.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include <saluki/log.h>

#include "admit.h"
#include "reply.h"
#include "take.h"

/* Room for an idle sensor's addresses: three intervals' slots, and some hundred of a session. */
#define TABLE_A_SENSOR 608
#define TABLE_LEAST 16384
#define TICK_MAX_MS 10000

/* ---- the list -------------------------------------------------------------------------------- */

void open_init(struct open *o, uint64_t floor_ns)
{
	meet_init(&o->meet, floor_ns);
	requests_init(&o->requests, o->meet.own.public);
	o->pool.limit = POOL_LIMIT_DEFAULT;
}

static void sessions_end(struct open *o, struct sensor *s)
{
	for (int i = 0; i < SENSOR_SESSIONS; i++)
		session_end(&s->sessions[i], &o->table);
	s->current = s->candidate = s->old = -1;
	s->unacked = 0;
	sensors_not_due(s);
}

/* A sensor is new, has left, or has other keys. */
static void changed(void *user, struct sensor *s)
{
	struct open *o = user;

	if (!sodium_is_zero(s->pair, KEY_LEN)) {
		sessions_end(o, s);
		meet_remove(&o->table, s);
		requests_remove(&o->table, s);
		reassemble_start(&s->reassembly, &o->pool, s->reassembly.next);
	}
	if (!s->listed)
		return;
	if (meet_add(&o->meet, &o->table, s)) {
		log_line("sensor %s: nothing can be agreed on with its public key", s->name);
		s->listed = false;
	} else if (requests_add(&o->requests, &o->table, s)) {
		log_line("sensor %s: out of memory; it can set sessions up by slots only", s->name);
	}
}

int open_sensors(struct open *o, const struct sensors_file *f)
{
	int err = 0;

	if (!o->table.entries)
		err = table_init(&o->table, (uint64_t)f->count * TABLE_A_SENSOR + TABLE_LEAST);
	err = err ?: sensors_apply(o->sensors, f, changed, o);
	if (err)
		log_line("out of memory for %u sensors", f->count);
	return err;
}

void open_free(struct open *o)
{
	for (unsigned int i = 0; i < o->sensors->count; i++) {
		struct sensor *s = o->sensors->list[i];

		sessions_end(o, s);
		reassemble_free(&s->reassembly, &o->pool);
	}
	table_free(&o->table);
	sodium_memzero(&o->meet, sizeof(o->meet));
	sodium_memzero(&o->requests, sizeof(o->requests));
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void old_begin(struct open *o, struct sensor *s, uint64_t now_ns)
{
	if (s->old >= 0)
		session_end(&s->sessions[s->old], &o->table);
	s->old = s->current;
	if (s->old < 0)
		return;
	s->old_until_ns = now_ns + OPEN_OLD_NS;
	if (s->old_listed)
		return;
	s->old_listed = true;
	s->old_next = NULL;
	if (o->sensors->old_last)
		o->sensors->old_last->old_next = s;
	else
		o->sensors->old_first = s;
	o->sensors->old_last = s;
}

/* Ends the old sessions whose time has come. A sensor that has had another one since keeps its
 * place in the list, so that those behind it may end later, by that time again. */
static void old_end(struct open *o, uint64_t now_ns)
{
	struct sensors *list = o->sensors;
	struct sensor *s;

	while ((s = list->old_first)) {
		int old = s->old;

		if (old >= 0 && s->old_until_ns > now_ns)
			return;
		list->old_first = s->old_next;
		if (!list->old_first)
			list->old_last = NULL;
		s->old_next = NULL;
		s->old_listed = false;
		if (old >= 0)
			session_end(&s->sessions[old], &o->table);
		s->old = -1;
	}
}

/* A set-up may be another process's, which lays the same combos out in its own way and has a last
 * word of its own: what was under way before must not be taken as this one's. A renewal, and the
 * next session of a sensor that sends nothing twice, are the same process's. */
static void old_replace(struct open *o, struct sensor *s)
{
	if (s->current < 0)
		return;
	session_end(&s->sessions[s->current], &o->table);
	s->current = -1;
}

/* The candidate's first datagram opened: the sensor has the new keys. */
static void candidate_begin(struct open *o, struct sensor *s, uint64_t now_ns)
{
	struct session *c = &s->sessions[s->candidate];

	admit_begun(o, s, c, now_ns);
	if (!c->renewed && !c->one_way)
		old_replace(o, s);
	old_begin(o, s, now_ns);
	s->current = s->candidate;
	s->candidate = -1;
	s->unacked = 0;
	if (c->renewed) {
		if (s->waiting && s->old >= 0)
			session_info_move(c, &s->sessions[s->old]);
		o->counters.renewals++;
		return;
	}
	o->counters.sessions++;
	s->begun++;
	take_session(o, s, c, now_ns);
	if (o->begun)
		o->begun(o->begun_user, s);
}

/* The length of a message about the session itself, 0 where it is none of those. */
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

static void take_own(struct open *o, struct sensor *s, struct session *session,
		     const uint8_t *message, uint64_t now_ns)
{
	bool present = session == &s->sessions[s->current];
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
			reply_probe(o, s, message);
		break;
	case MESSAGE_RENEW:
		if (present && !session->one_way &&
		    meet_renew(&o->meet, &o->table, s, message, now_ns))
			reply_send(o, s, s->sessions[s->candidate].renew, MESSAGE_RENEWED_LEN);
		break;
	}
}

/* Returns whether the message is kept. */
static bool take_any(struct open *o, struct sensor *s, struct session *session,
		     const uint8_t *message, long len, uint64_t now_ns)
{
	size_t own = len < 0 ? 0 : own_len(message[0]);

	if (len >= 0 && !ration_allows(&s->ration, message[0], now_ns)) {
		o->counters.limited_messages++;
		return false;
	}
	if (len < 0 || (own && (size_t)len != own))
		s->ledger.bad_messages++;
	else if (own)
		take_own(o, s, session, message, now_ns);
	else
		return s->waiting ? take_message_early(&s->sessions[s->current], message, len)
				  : take_message(o, s, message, len, now_ns);
	return true;
}

/* `message` is authentic. */
static void take_opened(struct open *o, struct sensor *s, struct session *session, uint64_t number,
			const uint8_t *message, long n, size_t len,
			const struct session_address *from, uint64_t now_ns)
{
	bool first = s->candidate >= 0 && session == &s->sessions[s->candidate];

	if (first)
		candidate_begin(o, s, now_ns);
	s->ledger.received_bytes += len;
	s->heard_ns = now_ns;
	if (session->one_way) {
		session->address = *from; /* for people; nothing goes there */
	} else if (session == &s->sessions[s->current] && number == session->rx.highest) {
		bool set_up = session->address.len != 0;

		if (session_follow(session, from, len))
			o->counters.moves++;
		else if (first && set_up)
			session->confirmed = true; /* our answer came there */
	}
	/* What the run before had under way is nothing of this one's; nor are records combos. */
	if (!s->waiting && (session->run != s->ledger.run || session->spool != s->spooled.id))
		return;
	if (take_any(o, s, session, message, n, now_ns))
		shroud_keep(&session->rx, number);
	if (!session->one_way)
		reply_challenge(o, s, now_ns);
	sensors_due(o->sensors, s, ++s->unacked >= OPEN_ACK_EVERY ? 1 : now_ns + OPEN_ACK_NS);
}

/* ---- datagrams ------------------------------------------------------------------------------- */

/* Returns whether it opens as what the table has it for, and only then has the table changed; or is
 * beyond what its sensor may do now. */
static bool open_as(struct open *o, struct table_entry e, const uint8_t *in, size_t len,
		    const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
	struct sensor *s = o->sensors->list[SENSOR_OWNER_INDEX(e.owner)];
	int kind = SENSOR_OWNER_KIND(e.owner);
	uint8_t message[SHROUD_DATAGRAM_MAX];
	struct session_address address;
	struct session *session;
	uint64_t number = 0;
	uint32_t skips;
	long n;

	if (kind == SENSOR_SLOTS)
		return admit_slot(o, s, e.low, in, len, from, from_len, now_ns);
	if (kind == SENSOR_KEY)
		return false;
	session = &s->sessions[kind - SENSOR_SESSION];
	skips = shroud_skips(&session->rx, e.low);
	if (skips && !ration_skips_allowed(&s->skips, now_ns)) {
		o->counters.limited_messages++;
		return true;
	}
	n = shroud_open(&session->rx, &o->table, e.low, &number, message, in, len);
	if (n < 0 && !number)
		return false;
	if (skips)
		ration_skip(&s->skips, skips, now_ns);
	else if (number < session->rx.highest)
		ration_skip_came(&s->skips, now_ns);
	session_address(&address, from, from_len);
	take_opened(o, s, session, number, message, n, len, &address, now_ns);
	return true;
}

void open_datagram(struct open *o, const uint8_t *in, size_t len,
		   const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
	const struct table_entry *e = NULL;
	bool known = false;

	o->counters.datagrams++;
	o->counters.bytes += len;
	if (len <= SHROUD_OVERHEAD || len > SHROUD_DATAGRAM_MAX) {
		o->counters.not_ours++;
		return;
	}
	while ((e = table_find(&o->table, load_word(in), e))) {
		known = true;
		if (open_as(o, *e, in, len, from, from_len, now_ns))
			return;
	}
	if (known)
		o->counters.not_authentic++;
	else
		admit_request(o, in, len, from, from_len, now_ns);
}

void open_batch(struct open *o)
{
	o->received_ns = meet_time(&o->meet);
}

/* ---- time ------------------------------------------------------------------------------------ */

static int earlier(int a, int b)
{
	return a < b ? a : b;
}

static int until_ms(uint64_t at_ns, uint64_t now_ns)
{
	uint64_t ms = at_ns <= now_ns ? 0 : (at_ns - now_ns) / 1000000 + 1;

	return ms < TICK_MAX_MS ? (int)ms : TICK_MAX_MS;
}

int open_tick(struct open *o, uint64_t now_ns)
{
	uint64_t time = meet_time(&o->meet);
	uint64_t next = (time / TRYST_INTERVAL_NS + 1) * TRYST_INTERVAL_NS;
	int timeout = until_ms(reply_due(o, now_ns), now_ns);

	old_end(o, now_ns);
	if (o->sensors->old_first)
		timeout = earlier(timeout, until_ms(o->sensors->old_first->old_until_ns, now_ns));
	if (meet_turn(&o->meet, &o->table, o->sensors))
		timeout = 0;
	o->output->state.floor_ns = time;
	return earlier(timeout, until_ms(next, time));
}

void open_overdue(struct open *o, uint64_t now_ns)
{
	for (unsigned int i = 0; i < o->sensors->count; i++)
		one_way_end(o, o->sensors->list[i], now_ns);
	serve_all(o, now_ns);
}

void open_finish(struct open *o)
{
	reply_due(o, UINT64_MAX);
}
