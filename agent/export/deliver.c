// SPDX-License-Identifier: GPL-2.0
/*
 * Deliver: see deliver.h. In: compressed combos, ACKs. Out: sealed datagrams. Always holds: of the
 * combos kept, those below `unsent` are whole at the collector, under way, or pending from `resend`
 * on; nothing at or above the collector's `taken` + PIECE_COMBOS_AHEAD is sent, and no datagram
 * whose address the collector cannot know. Allocates nothing.
 */
#include "deliver.h"

#include <errno.h>
#include <string.h>

#include <saluki/log.h>

#include "one_way.h"

#define BIG_LOST 6	  /* in a row, while small ones came through: the path does not take them */
#define BIG_LOST_AFTER 30 /* where some were acked before, it may be bad luck for long */
#define SMALL_ACKED 2
#define MS 1000000ULL
#define PIECES_LOST 30 /* in a row: the path takes none. Where bad luck, twice in 1e12 at 40 % */
#define PAUSE_NS (100 * MS) /* and then twice as long, up to FLIGHT_RTO_MAX_NS */
#define PAUSES_TOLD 4
#define FLOOR_NS (20 * MS)

static uint32_t all_pieces(const struct store_combo *c)
{
	return (1ULL << c->pieces) - 1;
}

static bool is_whole(const struct store_combo *c)
{
	return c->cut && c->acked == all_pieces(c);
}

int deliver_init(struct deliver *d, struct session *s, struct saluki_exported *counters,
		 size_t store_bytes)
{
	d->session = s;
	d->counters = counters;
	d->datagram_len = SHROUD_DATAGRAM_MAX;
	return store_init(&d->store, store_bytes);
}

void deliver_free(struct deliver *d)
{
	store_free(&d->store);
	memset(&d->path, 0, sizeof(d->path));
}

void deliver_start(struct deliver *d, uint64_t count, uint64_t first)
{
	store_start(&d->store, count);
	d->taken = d->settled = d->unsent = d->resend = count;
	__atomic_store_n(&d->kept_first, first, __ATOMIC_RELAXED);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* Counts, and where nothing is kept what `first` the next combo has. */
static void keep_from(struct deliver *d, uint64_t count)
{
	uint64_t first = d->kept_first;

	for (; d->store.lowest < d->store.end && d->store.lowest < count;
	     store_settle(&d->store, d->store.lowest + 1)) {
		const struct store_combo *c = store_get(&d->store, d->store.lowest);

		first = c->first + c->frames;
	}
	__atomic_store_n(&d->kept_first, first, __ATOMIC_RELAXED);
}

bool deliver_put(struct deliver *d, const uint8_t *wire, size_t len, uint64_t first,
		 uint32_t frames)
{
	struct store_combo *c = store_put(&d->store, wire, len);

	if (!c)
		return false;
	c->first = first;
	c->frames = frames;
	if (d->store.lowest + 1 == d->store.end)
		__atomic_store_n(&d->kept_first, first, __ATOMIC_RELAXED);
	/* The collector may have it already, of an agent that was killed. */
	keep_from(d, d->settled);
	return true;
}

void deliver_drop_oldest(struct deliver *d)
{
	const struct store_combo *c = store_get(&d->store, d->store.lowest);

	if (!c)
		return;
	__atomic_store_n(&d->given_up, d->given_up + c->frames, __ATOMIC_RELAXED);
	keep_from(d, d->store.lowest + 1);
	d->floor_due = true;
	d->final_number = 0; /* what was the last word did not say so */
}

void deliver_take_back(struct deliver *d)
{
	store_drop_newest(&d->store);
	if (d->unsent > d->store.end)
		d->unsent = d->store.end;
}

/* ---- cut and send ---------------------------------------------------------------------------- */

static void told(void *context, const struct flight_sent *sent);
static void hear_ack(struct deliver *d, const struct ack *a, uint64_t now_ns);

static size_t padded_len(const struct deliver *d)
{
	return d->path.padded ? SHROUD_DATAGRAM_PADDED : 0;
}

/* Bytes of a combo in a datagram; a padded one has two for the padding's length. */
static size_t piece_room(const struct deliver *d)
{
	return d->path.padded ? PIECE_DATA(SHROUD_DATAGRAM_PADDED - 2)
			      : PIECE_DATA(d->datagram_len);
}

static void cut(struct deliver *d, struct store_combo *c)
{
	c->cut = piece_room(d);
	c->pieces = (c->len + c->cut - 1) / c->cut;
	c->acked = 0;
	c->pending = all_pieces(c);
	c->epoch++;
}

static void cut_anew(struct deliver *d)
{
	for (uint64_t n = d->taken; n < d->store.end && n < d->taken + PIECE_COMBOS_AHEAD; n++) {
		struct store_combo *c = store_get(&d->store, n);

		if (c && c->cut && !is_whole(c)) {
			cut(d, c);
			d->resend = n < d->resend ? n : d->resend;
		}
	}
}

/* Small messages come through and pieces do not. They stay where they are, and are tried again
 * less and less often; the store's bound is the only one on what is kept. */
static void pause_pieces(struct deliver *d, bool tell, uint64_t now_ns)
{
	uint64_t wait = PAUSE_NS << (d->pauses < 6 ? d->pauses : 6);

	d->pauses++;
	d->pieces_lost = 0;
	d->pause_ends_ns = now_ns + (wait < FLIGHT_RTO_MAX_NS ? wait : FLIGHT_RTO_MAX_NS);
	if (!d->told_pause && (tell || d->pauses == PAUSES_TOLD)) {
		log_line("collector %s: the way there takes no datagrams of %d bytes (path MTU); "
			 "frames wait in the store",
			 d->session->peer, SHROUD_DATAGRAM_PADDED);
		d->told_pause = true;
	}
}

/* The path takes no datagrams as large as these. */
static void take_smaller(struct deliver *d, uint64_t now_ns)
{
	flight_lose_all(&d->flight, told, d);
	if (d->resend < d->unsent)
		d->unsent = d->resend; /* nothing from there on counts as sent */
	if (d->datagram_len == SHROUD_DATAGRAM_PADDED || d->path.padded) {
		if (d->path.one_way)
			cut_anew(d); /* else their numbers would count as heard */
		pause_pieces(d, true, now_ns);
		return;
	}
	d->pieces_lost = 0;
	log_line("collector %s: the way there takes no datagrams of %zu bytes; going on with %d",
		 d->session->peer, d->datagram_len, SHROUD_DATAGRAM_PADDED);
	d->datagram_len = SHROUD_DATAGRAM_PADDED;
	cut_anew(d);
}

static void flush(struct deliver *d, uint64_t now_ns)
{
	struct pieces_sent s;

	if (!d->pieces.count)
		return;
	s = pieces_send(&d->pieces, d->path.sock);
	__atomic_store_n(&d->counters->datagrams, d->counters->datagrams + s.datagrams,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&d->counters->sent_bytes, d->counters->sent_bytes + s.bytes,
			 __ATOMIC_RELAXED);
	session_sent(d->session, now_ns);
	if (s.refused == -ECONNREFUSED)
		session_refused(d->session);
	d->too_big |= s.too_big;
}

/* Seals a message into the batch and remembers it as under way. */
static void seal(struct deliver *d, const uint8_t *message, size_t len, struct flight_sent *sent)
{
	if (d->pieces.count == PIECES_MAX)
		flush(d, sent->sent_ns);
	sent->is_big = !d->path.padded && len + SHROUD_OVERHEAD > SHROUD_DATAGRAM_PADDED;
	pieces_seal(&d->pieces, &d->path.tx, message, len, padded_len(d));
	flight_send(&d->flight, sent);
}

static void seal_piece(struct deliver *d, uint64_t count, struct store_combo *c, uint8_t piece,
		       uint64_t now_ns)
{
	uint8_t message[PIECE_HEADER_LEN + PIECE_DATA_MAX];
	size_t offset = (size_t)piece * c->cut, len = c->len - offset;
	struct flight_sent sent = {
		.sent_ns = now_ns, .combo = count, .piece = piece, .epoch = c->epoch
	};

	if (len > c->cut)
		len = c->cut;
	piece_header_write(message, count, offset, c->len);
	store_read(&d->store, c, offset, len, message + PIECE_HEADER_LEN);
	if (offset == 0 &&
	    !d->opaque) /* the id is the session's, and it was compressed in front of it */
		store_be(message + PIECE_HEADER_LEN + 2, d->path.sensor_id, 2);
	c->pending &= ~(1U << piece);
	seal(d, message, PIECE_HEADER_LEN + len, &sent);
}

/* Seals what of a combo is pending, `may` pieces at most. Returns how many. */
static uint32_t seal_pending(struct deliver *d, uint64_t count, struct store_combo *c, uint32_t may,
			     uint64_t now_ns)
{
	uint32_t n = 0;

	for (; c->pending && n < may; n++)
		seal_piece(d, count, c, __builtin_ctz(c->pending), now_ns);
	return n;
}

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
			cut(d, c);
		n += c ? seal_pending(d, d->unsent, c, may - n, now_ns) : 0;
		if (!c || !c->pending)
			d->unsent++;
	}
	return n;
}

uint64_t deliver_message(struct deliver *d, const uint8_t *message, size_t len, uint64_t now_ns)
{
	struct flight_sent sent = { .sent_ns = now_ns, .piece = FLIGHT_OTHER };
	uint64_t number = d->flight.next;

	if (!flight_numbers_left(&d->flight))
		return 0;
	seal(d, message, len, &sent);
	flush(d, now_ns);
	return number;
}

static void send_outbox(struct deliver *d, uint64_t now_ns)
{
	uint8_t message[MESSAGE_MAX];
	size_t len;

	while (flight_numbers_left(&d->flight) &&
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

/* The collector waits for what is not kept any more: not until the next TOTALS, but no more often
 * than it can answer. */
static void hurry_floor(struct deliver *d, uint64_t now_ns)
{
	if (!d->path.one_way && d->store.lowest > d->taken && now_ns >= d->floor_ns + FLOOR_NS)
		deliver_floor(d, now_ns);
}

/* Of what nobody will acknowledge, all that was sent is done with. */
static void hear_nobody(struct deliver *d, uint64_t now_ns)
{
	struct ack a;

	one_way_ack(d, &a);
	hear_ack(d, &a, now_ns);
}

void deliver_send(struct deliver *d, uint64_t now_ns)
{
	uint32_t may, n;

	send_outbox(d, now_ns);
	hurry_floor(d, now_ns);
	if (now_ns < d->pause_ends_ns)
		return;
	do {
		may = flight_may_send(&d->flight, now_ns);
		if (d->path.one_way)
			may = one_way_may(d, may, now_ns);
		n = send_again(d, may, now_ns);
		n += send_new(d, may - n, now_ns);
		flush(d, now_ns);
		if (d->too_big)
			take_smaller(d, now_ns);
		d->too_big = false;
		if (d->path.one_way) {
			one_way_sent(d, n);
			hear_nobody(d, now_ns);
		}
	} while (n && now_ns >= d->pause_ends_ns);
}

/* ---- hear ------------------------------------------------------------------------------------ */

static void told_big(struct deliver *d, const struct flight_sent *sent)
{
	if (sent->state == FLIGHT_LOST) {
		d->big_lost++;
		if (sent->sent_ns > d->big_lost_ns)
			d->big_lost_ns = sent->sent_ns;
		return;
	}
	d->big_lost = d->small_acked = 0;
	d->big_acked = true;
}

static void told(void *context, const struct flight_sent *sent)
{
	struct deliver *d = context;
	/* The low 32 bits of a count that is near those kept. */
	uint64_t count = d->store.lowest + (int32_t)(sent->combo - (uint32_t)d->store.lowest);
	struct store_combo *c;

	if (sent->is_big)
		told_big(d, sent);
	else if (sent->state == FLIGHT_ACKED && sent->sent_ns > d->big_lost_ns)
		d->small_acked += d->big_lost > 0;
	if (sent->piece == FLIGHT_OTHER)
		return;
	if (sent->state == FLIGHT_ACKED)
		d->pieces_lost = d->pauses = 0;
	else
		d->pieces_lost += !sent->timed_out; /* flight has a back-off for those */
	c = store_get(&d->store, count);
	if (!c || !c->cut || c->epoch != sent->epoch || c->acked >> sent->piece & 1)
		return;
	if (sent->state == FLIGHT_LOST) {
		c->pending |= 1U << sent->piece;
		d->resend = count < d->resend ? count : d->resend;
		return;
	}
	c->acked |= 1U << sent->piece;
	c->pending &= ~(1U << sent->piece);
	if (is_whole(c))
		c->whole_ns = d->flight.progress_ns;
}

static void hear_held(struct deliver *d, uint64_t now_ns)
{
	for (uint64_t bits = d->held; bits; bits &= bits - 1) {
		struct store_combo *c = store_get(&d->store, d->taken + 1 + __builtin_ctzll(bits));

		if (!c || (is_whole(c) && !c->pending))
			continue;
		if (!c->cut)
			cut(d, c);
		c->pending = 0;
		c->acked = all_pieces(c);
		c->whole_ns = now_ns;
	}
}

static void hear_ack(struct deliver *d, const struct ack *a, uint64_t now_ns)
{
	if (flight_ack(&d->flight, a, now_ns, told, d))
		return; /* authentic, and yet of what was never sent: nothing of it is believed */
	if (a->taken > d->taken)
		d->checks = 0;
	if (a->taken >= d->taken) { /* an older one was overtaken by it */
		d->taken = a->taken;
		d->held = a->held;
		hear_held(d, now_ns);
	}
	if (a->settled > d->settled) {
		d->settled = a->settled;
		keep_from(d, d->settled);
		d->progress_ns = now_ns;
		d->asked = 0;
	}
	if (a->settled >= d->store.lowest && !d->path.one_way)
		d->floor_due = false;
	if (d->final_number && a->highest >= d->final_number && a->flags & ACK_FINAL)
		d->final = true;
}

/* All of a combo was received, and then the collector had no room for it: it is sent once more. */
static void check(struct deliver *d, uint64_t now_ns)
{
	uint64_t rto = flight_rto_ns(&d->flight) << (d->checks < 6 ? d->checks : 6);
	bool missing = false;

	rto = rto < FLIGHT_RTO_MAX_NS ? rto : FLIGHT_RTO_MAX_NS;
	d->check_ns = now_ns + rto;
	for (uint64_t n = d->taken; n < d->unsent; n++) {
		struct store_combo *c = store_get(&d->store, n);
		bool held = n > d->taken && n - d->taken - 1 < 64 &&
			    (d->held >> (n - d->taken - 1) & 1);

		if (!c || held || !is_whole(c) || now_ns < c->whole_ns + rto)
			continue;
		c->acked = 0;
		c->pending = all_pieces(c);
		c->epoch++;
		d->resend = n < d->resend ? n : d->resend;
		missing = true;
	}
	d->checks += missing;
}

void deliver_hear(struct deliver *d, uint64_t now_ns)
{
	bool heard = false;
	struct ack a;

	for (; session_ack(d->session, d->path.generation, &a); heard = true)
		hear_ack(d, &a, now_ns);
	if (d->path.one_way)
		hear_nobody(d, now_ns);
	if (heard && now_ns >= d->check_ns)
		check(d, now_ns);
	if (now_ns >= flight_due_ns(&d->flight))
		flight_expire(&d->flight, now_ns, told, d);
	if (d->big_lost >= (d->big_acked ? BIG_LOST_AFTER : BIG_LOST) &&
	    d->small_acked >= SMALL_ACKED && !d->path.padded &&
	    d->datagram_len > SHROUD_DATAGRAM_PADDED)
		take_smaller(d, now_ns);
	if (d->pieces_lost >= (d->pauses ? FLIGHT_CWND_MIN : PIECES_LOST))
		pause_pieces(d, false, now_ns);
}

/* ---- sessions -------------------------------------------------------------------------------- */

bool deliver_session(struct deliver *d, uint64_t now_ns)
{
	unsigned int generation = d->path.generation;

	if (!session_use(d->session, &d->path))
		return false;
	if (d->path.generation == generation)
		return true;
	flight_reset(&d->flight, d->path.window, now_ns);
	d->taken = d->settled = d->unsent = d->resend = d->store.lowest;
	d->held = d->final_number = d->checks = 0;
	d->asked = 0;
	d->check_ns = now_ns + flight_rto_ns(&d->flight);
	d->big_acked = false;
	d->pieces_lost = d->pauses = 0;
	d->pause_ends_ns = 0;
	d->big_lost = d->small_acked = 0;
	d->floor_due = true; /* for a collector that has not heard of this run */
	for (uint64_t n = d->store.lowest; n < d->store.end; n++)
		store_get(&d->store, n)->cut = 0;
	if (d->path.one_way)
		one_way_begun(d, now_ns);
	return true;
}

uint64_t deliver_ask_ns(const struct deliver *d)
{
	uint64_t since = d->asked_ns > d->flight.progress_ns ? d->asked_ns : d->flight.progress_ns;

	if (d->path.one_way)
		return UINT64_MAX;
	if (d->flight.oldest != d->flight.next)
		return flight_probe_ns(&d->flight);
	if (store_is_empty(&d->store))
		return UINT64_MAX;
	return since + (flight_rto_ns(&d->flight) << (d->asked < 6 ? d->asked : 6));
}

void deliver_asked(struct deliver *d, uint64_t now_ns)
{
	if (d->flight.oldest != d->flight.next) {
		flight_probed(&d->flight, now_ns);
	} else {
		d->asked_ns = now_ns;
		d->asked++;
	}
}

int deliver_wait_ms(const struct deliver *d, uint64_t now_ns, int most)
{
	uint64_t due = flight_due_ns(&d->flight), paced = flight_paced_ns(&d->flight);
	uint64_t ask = deliver_ask_ns(d);

	due = ask < due ? ask : due;
	if (d->path.one_way)
		due = one_way_due_ns(d, due, now_ns);
	if (now_ns < d->pause_ends_ns)
		paced = d->pause_ends_ns;
	if (paced < due && (d->resend < d->unsent || d->unsent < d->store.end))
		due = paced;
	if (due <= now_ns)
		return 0;
	due = (due - now_ns + MS - 1) / MS;
	return due < (uint64_t)most ? (int)due : most;
}
