// SPDX-License-Identifier: GPL-2.0
/*
 * Open: see open.h. In: datagrams of anybody's making. Out: frames of sensors that are in the
 * file, to output.h. Always holds: nothing is acted on before its tag verified, and nothing in a
 * datagram can make us send more bytes to an address than came from it.
 */
#include "open.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saluki/log.h>

#define TELL_UNKNOWN_NS 10000000000ULL

/* ---- set-up ---------------------------------------------------------------------------------- */

/* Bounded work for whoever knows our public key. */
static bool init_allowed(struct open *o, uint64_t now_ns)
{
	if (now_ns / 1000000000 != o->init_second) {
		o->init_second = now_ns / 1000000000;
		o->inits = 0;
	}
	return o->inits++ < OPEN_INITS_A_SECOND;
}

/* Set-ups that were worth the work once are remembered by their ephemeral key, whatever became of
 * them, so that a recording played back spends neither the sensors' budget nor Diffie-Hellman a
 * second time. A few ways a set: recordings that fall into one must not drive each other out. */
static bool init_known(struct open *o, const uint8_t *in)
{
	uint64_t key = load_be(in + 1, 8), *set = o->known_inits[key % OPEN_KNOWN_SETS];

	for (int i = 0; i < OPEN_KNOWN_WAYS; i++)
		if (set[i] == key)
			return true;
	return false;
}

static void init_remember(struct open *o, const uint8_t *in)
{
	uint64_t key = load_be(in + 1, 8), *set = o->known_inits[key % OPEN_KNOWN_SETS];

	memmove(set + 1, set, (OPEN_KNOWN_WAYS - 1) * sizeof(*set));
	set[0] = key;
}

static void tell_unknown(struct open *o, const uint8_t *public, uint64_t now_ns)
{
	char text[KEY_TEXT_LEN];

	if (o->told_unknown_ns && now_ns - o->told_unknown_ns < TELL_UNKNOWN_NS)
		return;
	o->told_unknown_ns = now_ns;
	key_to_text(text, public);
	log_line("unknown sensor with public key %s; to take it, add a line NAME ID %s to %s and "
		 "start again",
		 text, text, o->sensors_file);
}

/* A session's id says which sensor it belongs to: the place in the list, and 16 random bits. */
static uint32_t session_id(const struct open *o, const struct sensor *s)
{
	uint32_t index = s - o->sensors->list, id;

	do {
		id = index | randombytes_random() << 16;
	} while (s->current.valid && id == s->current.id);
	return id;
}

static void take_init(struct open *o, const uint8_t *in, size_t len,
		      const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
	uint8_t answer[SEAL_ANSWER_LEN];
	struct seal_responder r;
	struct sensor *s;

	if (!seal_init_plausible(&o->own, in, len)) {
		o->counters.bad_inits++;
		return;
	}
	if (init_known(o, in)) {
		o->counters.replayed_inits++;
		return;
	}
	if (!init_allowed(o, now_ns)) {
		o->counters.limited_inits++;
		return;
	}
	init_remember(o, in);
	if (seal_accept(&r, &o->own, in, len)) {
		o->counters.bad_inits++;
		return;
	}
	s = sensors_by_key(o->sensors, r.sensor);
	if (!s) {
		o->counters.unknown_sensors++;
		tell_unknown(o, r.sensor, now_ns);
		return;
	}
	if (r.time_ns <= s->init_ns) {
		o->counters.replayed_inits++;
		return;
	}
	s->init_ns = r.time_ns;
	s->candidate.valid = true;
	s->candidate.id = session_id(o, s);
	s->candidate.run = r.run;
	s->candidate_info.len = r.info_len;
	memcpy(s->candidate_info.text, r.info, r.info_len);
	seal_answer(&r, &s->candidate.seal, answer, s->candidate.id, s->id);
	sendto(o->sock, answer, sizeof(answer), MSG_DONTWAIT, (const struct sockaddr *)from,
	       from_len);
}

/* ---- combos ---------------------------------------------------------------------------------- */

static void take_combo(struct open *o, struct sensor *s, const uint8_t *combo, size_t len,
		       uint64_t number, uint64_t now_ns)
{
	struct combo_header h;
	struct combo_reader r;
	struct combo_frame f;
	const uint8_t *body = NULL;

	if (combo_header_read(&h, combo, len, s->id) == 0 && h.seqn == (uint16_t)number)
		body = decompress_combo(o->decompress, &h, combo, len);
	if (!body || combo_open(&r, body, h.body_len, h.frames) ||
	    ledger_combo(&s->ledger, r.first, h.frames)) {
		s->ledger.bad_combos++;
		return;
	}
	while (combo_next(&r, &f) == 1) {
		output_frame(o->output, s, &f, now_ns);
		s->ledger.pending++;
	}
}

static void take_complete(struct open *o, struct sensor *s, uint64_t now_ns)
{
	const uint8_t *combo;
	uint64_t number;
	size_t len;

	while ((combo = reassemble_take(&s->reassembly, &len, &number))) {
		take_combo(o, s, combo, len, number, now_ns);
		reassemble_done(&s->reassembly);
	}
}

/* What is complete is taken, what is missing passed over: more will not come. */
static void take_rest(struct open *o, struct sensor *s, uint64_t now_ns)
{
	while (reassemble_tick(&s->reassembly, now_ns, true))
		take_complete(o, s, now_ns);
}

static void take_piece(struct open *o, struct sensor *s, const uint8_t *message, size_t len,
		       uint64_t now_ns)
{
	enum reassemble_result result;
	struct piece p;

	if (piece_read(&p, message, len)) {
		s->ledger.bad_pieces++;
		return;
	}
	while ((result = reassemble_add(&s->reassembly, &p, now_ns)) == REASSEMBLE_FULL)
		take_complete(o, s, now_ns);
	if (result == REASSEMBLE_BAD)
		s->ledger.bad_pieces++;
	else if (result == REASSEMBLE_DUPLICATE)
		s->ledger.duplicate_pieces++;
	else
		take_complete(o, s, now_ns);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void take_totals(struct sensor *s, const uint8_t *message, size_t len, uint64_t now_ns)
{
	struct totals t;

	if (totals_read(&t, message, len)) {
		s->ledger.bad_messages++;
		return;
	}
	ledger_totals(&s->ledger, &t);
	s->receipt_due = true;
	if (t.final && !s->final_since_ns)
		s->final_since_ns = now_ns;
}

/* Something has changed while the session lives. It is said several times. */
static void take_info(struct sensor *s, const uint8_t *message, size_t len)
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
	s->change = info.change;
	s->info.len = len - 1;
	memcpy(s->info.text, message + 1, len - 1);
	interfaces_describe(s, &info);
}

static void take_message(struct open *o, struct sensor *s, const uint8_t *message, size_t len,
			 uint64_t now_ns)
{
	if (++s->unreceipted >= OPEN_RECEIPT_EVERY)
		s->receipt_due = true;
	if (len && message[0] == PIECE_COMBO)
		take_piece(o, s, message, len, now_ns);
	else if (len && message[0] == PIECE_TOTALS)
		take_totals(s, message, len, now_ns);
	else if (len && message[0] == PIECE_INFO)
		take_info(s, message, len);
	else
		s->ledger.bad_messages++;
}

/* Another run, of which `exported` frames were in combos sent before now. Where this one has come
 * back after another had come between, its combos go on where they ended. */
static void run_begin(struct open *o, struct sensor *s, uint64_t exported, uint64_t now_ns)
{
	struct sensor_run left = { .run = s->ledger.run, .valid = s->ledger.runs };

	take_rest(o, s, now_ns);
	ledger_run_close(&s->ledger);
	output_run_end(o->output, s);
	left.next = s->reassembly.next;
	left.accounted = s->ledger.now.accounted;
	reassemble_reset(&s->reassembly);
	if (s->before.valid && s->before.run == s->candidate.run) {
		s->reassembly.started = s->before.next > 0;
		s->reassembly.next = s->before.next;
		exported = exported > s->before.accounted ? exported : s->before.accounted;
	}
	s->before = left;
	ledger_run_start(&s->ledger, s->candidate.run, exported);
}

/* The candidate's first datagram opened: the sensor has the new keys, the old ones go. Its run may
 * be the present one, in another session or carried on by another agent: then combos that are here
 * already will be known by their numbers. */
static void session_begin(struct open *o, struct sensor *s, uint64_t now_ns)
{
	struct info info;

	o->counters.sessions++;
	info_read(&info, s->candidate_info.text, s->candidate_info.len);
	if (!s->ledger.runs || s->candidate.run != s->ledger.run) {
		run_begin(o, s, info.exported, now_ns);
	} else {
		reassemble_resume(&s->reassembly);
		ledger_run_resume(&s->ledger);
	}
	s->final_since_ns = 0;
	s->final_confirmed = false;
	s->info = s->candidate_info;
	s->change = info.change;
	interfaces_describe(s, &info);
	s->current = s->candidate;
	sodium_memzero(&s->candidate, sizeof(s->candidate));
}

/* Receipts go where the sensor is now, and no more of them than it has paid for from there: who
 * redirects its datagrams must not make us flood somebody. */
static void follow_address(struct sensor *s, size_t len, const struct sockaddr_storage *from,
			   socklen_t from_len)
{
	if (s->address_len != from_len || memcmp(&s->address, from, from_len)) {
		memcpy(&s->address, from, from_len);
		s->address_len = from_len;
		s->credit = 0;
	}
	s->credit += len;
}

static void take_data(struct open *o, const uint8_t *in, size_t len,
		      const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
	uint8_t message[WIRE_DATAGRAM_MAX];
	struct session *session = NULL;
	struct sensor *s;
	uint32_t id;
	long n;

	if (seal_session_of(in, len, &id) || len > WIRE_DATAGRAM_MAX) {
		o->counters.not_ours++;
		return;
	}
	s = (id & 0xffff) < o->sensors->count ? &o->sensors->list[id & 0xffff] : NULL;
	if (s && s->current.valid && s->current.id == id)
		session = &s->current;
	else if (s && s->candidate.valid && s->candidate.id == id)
		session = &s->candidate;
	if (!session) {
		o->counters.unknown_session++;
		return;
	}
	n = seal_open(&session->seal.rx, message, in, len);
	if (n == -EALREADY)
		o->counters.replayed++;
	else if (n < 0)
		o->counters.not_authentic++;
	if (n < 0)
		return;
	if (session == &s->candidate)
		session_begin(o, s, now_ns);
	if (s->current.seal.rx.highest ==
	    load_be(in + 5, 8)) /* the newest: others were overtaken */
		follow_address(s, len, from, from_len);
	s->ledger.received_bytes += len;
	take_message(o, s, message, n, now_ns);
}

void open_datagram(struct open *o, const uint8_t *in, size_t len,
		   const struct sockaddr_storage *from, socklen_t from_len, uint64_t now_ns)
{
	o->counters.datagrams++;
	o->counters.bytes += len;
	if (len && in[0] == SEAL_DATA)
		take_data(o, in, len, from, from_len, now_ns);
	else if (len && in[0] == SEAL_INIT)
		take_init(o, in, len, from, from_len, now_ns);
	else
		o->counters.not_ours++;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void send_receipt(struct open *o, struct sensor *s)
{
	uint8_t message[RECEIPT_LEN], out[RECEIPT_LEN + SEAL_OVERHEAD];
	size_t len;

	if (s->credit < sizeof(out))
		return; /* it stays due; the sensor repeats what matters */
	message[0] = PIECE_RECEIPT;
	store_be(message + 1, s->current.seal.rx.highest, 8);
	message[9] = s->final_confirmed ? RECEIPT_FINAL : 0;
	len = seal_datagram(&s->current.seal.tx, out, message, sizeof(message));
	sendto(o->sock, out, len, MSG_DONTWAIT, (struct sockaddr *)&s->address, s->address_len);
	s->credit -= len;
	s->unreceipted = 0;
	s->receipt_due = false;
}

/* A run that has ended is confirmed when all its frames are here, or will not come. */
static void check_final(struct open *o, struct sensor *s, uint64_t now_ns)
{
	if (!s->final_since_ns || s->final_confirmed)
		return;
	if (s->ledger.now.accounted < s->ledger.now.sensor.exported &&
	    now_ns - s->final_since_ns < OPEN_FINAL_WAIT_NS)
		return;
	take_rest(o, s, now_ns);
	ledger_run_close(&s->ledger);
	s->final_confirmed = s->receipt_due = true;
}

bool open_tick(struct open *o, uint64_t now_ns)
{
	bool soon = false;

	for (unsigned int i = 0; i < o->sensors->count; i++) {
		struct sensor *s = &o->sensors->list[i];

		if (!s->current.valid)
			continue;
		if (reassemble_tick(&s->reassembly, now_ns, false))
			take_complete(o, s, now_ns);
		check_final(o, s, now_ns);
		if (s->receipt_due)
			send_receipt(o, s);
		soon |= s->reassembly.waiting_since_ns ||
			(s->final_since_ns && !s->final_confirmed);
	}
	return soon;
}

void open_finish(struct open *o, uint64_t now_ns)
{
	for (unsigned int i = 0; i < o->sensors->count; i++) {
		struct sensor *s = &o->sensors->list[i];

		take_rest(o, s, now_ns);
		ledger_run_close(&s->ledger);
	}
}
