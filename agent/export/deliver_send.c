// SPDX-License-Identifier: GPL-2.0
/*
 * Deliver, sending: see deliver.h. In: combos from the store. Out: their sealed pieces, and the
 * control thread's messages between them. Always holds: only combos below the collector's `taken` +
 * PIECE_COMBOS_AHEAD are sent, and only datagrams whose addresses the collector can know.
 */
#include "deliver.h"

#include <errno.h>

/* Time between two hurried FLOORs: a round-trip time within these bounds. The collector takes at
 * most MESSAGE_LIMIT_OTHERS a second. */
#define FLOOR_MIN_NS 2000000ULL
#define FLOOR_MAX_NS 20000000ULL

/* ---- cut and seal ---------------------------------------------------------------------------- */

static size_t padded_len(const struct deliver *d)
{
	return d->path.padded ? SHROUD_DATAGRAM_PADDED : 0;
}

/* Returns a datagram's bytes for a combo; a padded one needs two for the padding's length. */
static size_t piece_room(const struct deliver *d)
{
	return d->path.padded ? PIECE_DATA(SHROUD_DATAGRAM_PADDED - 2)
			      : PIECE_DATA(d->datagram_len);
}

void deliver_cut(struct deliver *d, struct store_combo *c)
{
	c->cut = piece_room(d);
	c->pieces = (c->len + c->cut - 1) / c->cut;
	c->acked = 0;
	c->pending = deliver_all_pieces(c);
	c->epoch++;
}

static void flush(struct deliver *d, uint64_t now_ns)
{
	struct session_sent_counts s;

	if (!d->pieces.count)
		return;
	s = session_send(&d->pieces, d->path.sock);
	__atomic_store_n(&d->counters->datagrams, d->counters->datagrams + s.datagrams,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&d->counters->sent_bytes, d->counters->sent_bytes + s.bytes,
			 __ATOMIC_RELAXED);
	session_sent(d->session, now_ns);
	if (s.refused == -ECONNREFUSED)
		session_refused(d->session);
	d->too_big |= s.too_big;
}

/* Seals a message into the batch and notes it as in flight. */
static void seal(struct deliver *d, const uint8_t *message, size_t len, struct in_flight_sent *sent)
{
	if (d->pieces.count == SESSION_SEND_MAX)
		flush(d, sent->sent_ns);
	sent->is_big = !d->path.padded && len + SHROUD_OVERHEAD > SHROUD_DATAGRAM_PADDED;
	session_send_seal(&d->pieces, &d->path.tx, message, len, padded_len(d));
	in_flight_send(&d->flight, sent);
}

static void seal_piece(struct deliver *d, uint64_t count, struct store_combo *c, uint8_t piece,
		       uint64_t now_ns)
{
	uint8_t message[PIECE_HEADER_LEN + PIECE_DATA_MAX];
	size_t offset = (size_t)piece * c->cut, len = c->len - offset;
	struct in_flight_sent sent = {
		.sent_ns = now_ns, .combo = count, .piece = piece, .epoch = c->epoch
	};

	if (len > c->cut)
		len = c->cut;
	piece_header_write(message, count, offset, c->len);
	store_read(&d->store, c, offset, len, message + PIECE_HEADER_LEN);
	if (offset == 0 &&
	    !d->opaque) /* the session's id, in the header before the compressed body */
		store_be(message + PIECE_HEADER_LEN + 2, d->path.sensor_id, 2);
	c->pending &= ~(1U << piece);
	seal(d, message, PIECE_HEADER_LEN + len, &sent);
}

/* Seals a combo's pending pieces, at most `may`. Returns their number. */
static uint32_t seal_pending(struct deliver *d, uint64_t count, struct store_combo *c, uint32_t may,
			     uint64_t now_ns)
{
	uint32_t n = 0;

	for (; c->pending && n < may; n++)
		seal_piece(d, count, c, __builtin_ctz(c->pending), now_ns);
	return n;
}

/* ---- send ------------------------------------------------------------------------------------ */

static uint32_t send_again(struct deliver *d, uint32_t may, uint64_t now_ns)
{
	uint32_t n = 0;

	if (d->resend < d->taken)
		d->resend = d->taken;
	while (n < may && d->resend < d->unsent) {
		struct store_combo *c = store_get(&d->store, d->resend);

		n += c ? seal_pending(d, d->resend, c, may - n, now_ns) : 0;
		if (!c || !c->pending)
			d->resend++;
	}
	return n;
}

static uint32_t send_new(struct deliver *d, uint32_t may, uint64_t now_ns)
{
	uint32_t n = 0;

	if (d->unsent < d->taken)
		d->unsent = d->taken < d->store.end ? d->taken : d->store.end;
	while (n < may && d->unsent < d->store.end && d->unsent < d->taken + PIECE_COMBOS_AHEAD) {
		struct store_combo *c = store_get(&d->store, d->unsent);

		if (c && !c->cut)
			deliver_cut(d, c);
		n += c ? seal_pending(d, d->unsent, c, may - n, now_ns) : 0;
		if (!c || !c->pending)
			d->unsent++;
	}
	return n;
}

uint64_t deliver_message(struct deliver *d, const uint8_t *message, size_t len, uint64_t now_ns)
{
	struct in_flight_sent sent = { .sent_ns = now_ns, .piece = IN_FLIGHT_OTHER };
	uint64_t number = d->flight.next;

	if (!in_flight_numbers_left(&d->flight))
		return 0;
	seal(d, message, len, &sent);
	flush(d, now_ns);
	return number;
}

static void send_outbox(struct deliver *d, uint64_t now_ns)
{
	uint8_t message[MESSAGE_MAX];
	size_t len;

	while (in_flight_numbers_left(&d->flight) &&
	       (len = session_outbox(d->session, d->path.generation, message))) {
		if (message[0] == MESSAGE_PROBE && len >= MESSAGE_PROBE_LEN)
			store_be(message + 1, session_clock_ns(d->session), 8);
		deliver_message(d, message, len, now_ns);
	}
}

void deliver_floor(struct deliver *d, uint64_t now_ns)
{
	uint8_t message[MESSAGE_FLOOR_LEN] = { MESSAGE_FLOOR };

	if (!d->floor_due)
		return;
	store_be(message + 1, d->store.lowest, 8);
	store_be(message + 9, d->kept_first, 8);
	deliver_message(d, message, sizeof(message), now_ns);
	d->floor_ns = now_ns;
}

/* The collector waits for combos that were dropped. Tells it before the next TOTALS, but not more
 * often than it can answer. A full store drops combos all the time, and the sensor sends only
 * PIECE_COMBOS_AHEAD combos from one FLOOR to the next. If the collector has the next combo, it
 * waits for its disk, and TOTALS is enough. */
static void hurry_floor(struct deliver *d, uint64_t now_ns)
{
	uint64_t pause = d->flight.srtt_ns ?: FLOOR_MAX_NS;

	pause = pause < FLOOR_MIN_NS ? FLOOR_MIN_NS : pause;
	pause = pause > FLOOR_MAX_NS ? FLOOR_MAX_NS : pause;
	if (!d->whole && d->store.lowest > d->taken && now_ns >= d->floor_ns + pause)
		deliver_floor(d, now_ns);
}

void deliver_send(struct deliver *d, uint64_t now_ns)
{
	uint32_t may, n;

	send_outbox(d, now_ns);
	hurry_floor(d, now_ns);
	if (now_ns < d->pause_ends_ns || d->waits)
		return;
	do {
		may = d->ops->may_send(d, now_ns);
		/* After a pause, first sends a few as a test. */
		if (d->pauses && may > IN_FLIGHT_CWND_MIN)
			may = IN_FLIGHT_CWND_MIN;
		n = send_again(d, may, now_ns);
		n += send_new(d, may - n, now_ns);
		flush(d, now_ns);
		if (d->too_big)
			deliver_take_smaller(d, now_ns);
		if (d->ops->sent)
			d->ops->sent(d, n, now_ns);
		d->too_big = false;
	} while (n && now_ns >= d->pause_ends_ns);
}
