// SPDX-License-Identifier: GPL-2.0
/* Messages: see messages.h. */
#include "messages.h"

#include "collector/combo/intake.h"
#include "collector/combo/progress.h"
#include "collector/combo/sensor.h"
#include "collector/combo/turns.h"
#include "collector/output/interfaces.h"
#include "collector/output/output_sink.h"
#include "common/duration.h"
#include "common/log.h"
#include "sensor.h"
#include "session_send.h"
#include "wire/totals.h"

/* ---- messages about the session -------------------------------------------------------------- */

/* Returns the length of a message about the session itself, 0 for other kinds. */
static size_t session_message_len(uint8_t kind)
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

static void messages_session(struct network *o, struct sensor *s, struct session *session,
			     const uint8_t *message, uint64_t now_ns)
{
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
		if (session == sensor_session(s))
			session_send_probe(o, s, message);
		break;
	case MESSAGE_RENEW:
		if (session == sensor_session(s) &&
		    handshake_renew(&o->handshake, &o->table, s, message, now_ns))
			session_send(o, s, sensor_candidate(s)->renew, MESSAGE_RENEWED_LEN);
		break;
	}
}

/* ---- messages about the capture -------------------------------------------------------------- */

static void messages_floor(struct network *o, struct sensor *s, const uint8_t *message, size_t len,
			   uint64_t now_ns)
{
	uint64_t combo, first;

	if (len != MESSAGE_FLOOR_LEN) {
		s->ledger.bad_messages++;
		return;
	}
	combo = load_be(message + 1, 8);
	first = load_be(message + 9, 8);
	intake_floor(o->combos, s, combo, first, now_ns);
}

static void messages_totals(struct network *o, struct sensor *s, const uint8_t *message, size_t len,
			    uint64_t now_ns)
{
	struct totals t;

	if (totals_read(&t, message, len)) {
		s->ledger.bad_messages++;
		return;
	}
	ledger_totals(&s->ledger, &t);
	s->final_heard |= t.final != 0;
	output_totals(o->combos->output, s, message, len, t.final, now_ns);
}

static void messages_progress(struct network *o, struct sensor *s, const uint8_t *message,
			      size_t len, uint64_t now_ns)
{
	struct progress p;

	if (progress_read(&p, message, len)) {
		s->ledger.bad_messages++;
		return;
	}
	progress_take(o->combos, s, &p, now_ns);
	output_progress(o->combos->output, s, message, len, now_ns);
}

/* Logs the clock difference that the sensor measured. */
static void log_skew(struct sensor *s, const struct info *i, uint64_t now_ns)
{
	int64_t ahead_us = skew_ahead_us(i->ahead_us, i->behind_us);
	char text[DURATION_TEXT_LEN];

	switch (skew_look(&s->network->skew, ahead_us, now_ns)) {
	case SKEW_DIFFERS:
		duration_text(text, i->ahead_us ?: i->behind_us);
		log_line("sensor %s: its clock is %s %s this machine's, and its frames have its "
			 "stamps; set the one that is wrong",
			 s->name, text, ahead_us > 0 ? "ahead of" : "behind");
		break;
	case SKEW_IS_OVER:
		log_line("sensor %s: its clock and this machine's agree again", s->name);
		break;
	case SKEW_NOTHING:
		break;
	}
}

/* Takes a change of the sensor's info. The sensor repeats the message. */
static void messages_info(struct network *o, struct sensor *s, const uint8_t *message, size_t len,
			  uint64_t now_ns)
{
	struct info info;

	if (len < 2 || len > INFO_MESSAGE_MAX) {
		s->ledger.bad_messages++;
		return;
	}
	info_read(&info, message + 1, len - 1);
	if (!info.count)
		s->ledger.bad_messages++;
	if (!info.count || info.change <= s->change)
		return;
	/* The old info describes earlier frames, so they are taken first, except those that must
	 * wait. */
	while (turns_early(o->combos, s, now_ns))
		;
	if (sensor_info_set(&s->info, message + 1, len - 1))
		return;
	s->change = info.change;
	interfaces_describe(s, &info);
	log_skew(s, &info, now_ns);
}

static void messages_answer(struct network *o, struct sensor *s, const uint8_t *message, size_t len)
{
	if (len < 10)
		s->ledger.bad_messages++;
	else if (o->answered)
		o->answered(o->answered_user, s, load_be(message + 1, 8), message[9], message + 10,
			    len - 10);
}

static bool messages_run(struct network *o, struct sensor *s, const uint8_t *message, size_t len,
			 uint64_t now_ns)
{
	switch (message[0]) {
	case MESSAGE_COMBO:
		return intake_piece(o->combos, s, message, len, now_ns);
	case MESSAGE_TOTALS:
		messages_totals(o, s, message, len, now_ns);
		break;
	case MESSAGE_INFO:
		messages_info(o, s, message, len, now_ns);
		break;
	case MESSAGE_FLOOR:
		messages_floor(o, s, message, len, now_ns);
		break;
	case MESSAGE_PROGRESS:
		messages_progress(o, s, message, len, now_ns);
		break;
	case MESSAGE_ANSWER:
		messages_answer(o, s, message, len);
		break;
	default:
		s->ledger.bad_messages++;
	}
	return true;
}

/* Takes a message whose run waits: keeps only the sensor's info. */
static bool messages_waiting(struct sensor *s, const uint8_t *message, size_t len)
{
	struct sensor_info *next = &s->combo->next.info;
	struct info info, before;

	if (message[0] != MESSAGE_INFO || len < 2 || len > INFO_MESSAGE_MAX)
		return false;
	info_read(&info, message + 1, len - 1);
	info_read(&before, next->text, next->len);
	if (!info.count || info.change <= before.change)
		return true;
	return sensor_info_set(next, message + 1, len - 1) == 0;
}

bool messages_take(struct network *o, struct sensor *s, struct session *session,
		   const uint8_t *message, size_t len, uint64_t now_ns)
{
	size_t own_len = session_message_len(message[0]);

	if (!message_limit_allows(&s->network->limit, message[0], now_ns)) {
		o->counters.limited_messages++;
		return false;
	}
	if (!own_len)
		return s->combo->waiting ? messages_waiting(s, message, len)
					 : messages_run(o, s, message, len, now_ns);
	if (len != own_len)
		s->ledger.bad_messages++;
	else
		messages_session(o, s, session, message, now_ns);
	return true;
}
