// SPDX-License-Identifier: GPL-2.0
/*
 * A simulated sensor's datagrams: pieces of combos until all are settled, and its totals and
 * progress once a second. In: ACKs. Out: sealed datagrams. Always holds: while a datagram with a
 * piece may still be acknowledged, the piece is in its slot's `sent` and not in `acked`. Otherwise
 * the piece is sent again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "swarm.h"
#include "wire/bytes.h"
#include "wire/progress.h"
#include "wire/totals.h"

#define SECOND 1000000000ULL
#define RTO_MIN_NS (300 * 1000000ULL)
#define WINDOW_START 16
#define REORDERED 16   /* a datagram counts as lost once so many later ones were received */
#define CONTROL_ROOM 4 /* datagrams of the window that pieces leave free */

static size_t piece_data(const struct swarm *w)
{
	return w->o->pad ? PIECE_DATA(SHROUD_DATAGRAM_PADDED - 2) : PIECE_DATA_MAX;
}

void swarm_datagram(struct swarm *w, struct swarm_sensor *s, const uint8_t *datagram, size_t len)
{
	/* ECONNREFUSED is about an earlier datagram, and this one was not sent. */
	for (int tries = 0; tries < 2; tries++)
		if (send(s->sock, datagram, len, MSG_NOSIGNAL) >= 0 || errno != ECONNREFUSED)
			break;
	w->counters.datagrams++;
	w->counters.bytes += len;
}

static uint64_t room(const struct swarm_sensor *s)
{
	return s->acked + shroud_room(s->acked, s->window) + 1 - s->tx.next;
}

uint64_t swarm_send(struct swarm *w, struct swarm_sensor *s, const uint8_t *message, size_t len,
		    uint64_t now)
{
	uint8_t datagram[SHROUD_DATAGRAM_MAX];
	uint64_t number = s->tx.next;

	if (!s->up || !room(s))
		return 0;
	len = shroud_seal(&s->tx, datagram, message, len, w->o->pad ? SHROUD_DATAGRAM_PADDED : 0);
	if (!s->waits_ns)
		s->waits_ns = now;
	swarm_datagram(w, s, datagram, len);
	return number;
}

/* ---- control --------------------------------------------------------------------------------- */

bool swarm_all_sent(const struct swarm *w, const struct swarm_sensor *s)
{
	bool sent_all = w->o->combos >= 0 && s->begun >= (uint64_t)w->o->combos;

	return s->taken == s->begun && (w->ending || (sent_all && !w->o->seconds));
}

static size_t write_totals(const struct swarm *w, struct swarm_sensor *s, uint8_t *out)
{
	struct totals t = { .seen = s->frames,
			    .captured = s->frames,
			    .exported = s->frames,
			    .combos = s->begun,
			    .datagrams = s->tx.next };

	t.final = s->final_sent = swarm_all_sent(w, s);
	return totals_write(out, &t);
}

/* As a sensor does, which measures what this costs. Frames have the trace's stamps, so only the
 * first nanosecond of 1970 is over for them. */
static void send_progress(struct swarm *w, struct swarm_sensor *s, uint64_t now)
{
	const struct progress p = { .exported = s->frames, .before_ns = 1 };
	uint8_t message[PROGRESS_WIRE_MAX];

	s->progress_at = s->begun;
	s->between_ns = now + PROGRESS_INTERVAL_NS;
	swarm_send(w, s, message, progress_write(message, &p), now);
}

/* Another collector settled the combos below. */
static void send_floor(struct swarm *w, struct swarm_sensor *s, uint64_t now)
{
	uint8_t message[MESSAGE_FLOOR_LEN] = { MESSAGE_FLOOR };

	store_be(message + 1, s->settled, 8);
	store_be(message + 9, s->settled_frames, 8);
	swarm_send(w, s, message, sizeof(message), now);
}

static void send_progress_between(struct swarm *w, struct swarm_sensor *s, uint64_t now)
{
	if (s->progress_at == s->begun)
		send_progress(w, s, now);
	s->progress_at = s->begun;
	s->between_ns = now + SECOND;
}

void swarm_send_control(struct swarm *w, struct swarm_sensor *s, uint64_t now)
{
	uint8_t message[TOTALS_WIRE_MAX > MESSAGE_MAX ? TOTALS_WIRE_MAX : MESSAGE_MAX];

	if (s->done || !s->up)
		return;
	if (s->echo_due) {
		message[0] = MESSAGE_ECHO;
		store_be(message + 1, s->cookie, 8);
		s->echo_due = !swarm_send(w, s, message, MESSAGE_ECHO_LEN, now);
	}
	s->heard_due |= s->unheard && now >= s->totals_ns; /* a lost HEARD would delay ACKs */
	if (s->heard_due) {
		s->unheard = 0;
		message[0] = MESSAGE_HEARD;
		store_be(message + 1, s->rx.highest, 8);
		s->heard_due = !swarm_send(w, s, message, MESSAGE_HEARD_LEN, now);
	}
	if (now >= s->between_ns)
		send_progress_between(w, s, now);
	if (now < s->totals_ns && !(swarm_all_sent(w, s) && !s->final_sent))
		return;
	s->totals_ns = now + SECOND;
	if (s->floor_due)
		send_floor(w, s, now);
	swarm_send(w, s, message, write_totals(w, s, message), now);
	send_progress(w, s, now);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static struct swarm_slot *slot_of(struct swarm_sensor *s, uint64_t count)
{
	return &s->slots[count % PIECE_COMBOS_AHEAD];
}

/* Puts the next combo into its slot. Returns whether there is one. */
static bool slot_begin(struct swarm *w, struct swarm_sensor *s)
{
	const struct swarm_combo *c;
	unsigned int pieces;

	if (s->sending >= s->taken + PIECE_COMBOS_AHEAD)
		return false;
	if (s->sending >= s->begun &&
	    (w->ending || (w->o->combos >= 0 && s->begun >= (uint64_t)w->o->combos)))
		return false;
	c = swarm_combos_get(&w->combos, s->sending);
	if (!c)
		return false;
	pieces = (c->len + piece_data(w) - 1) / piece_data(w);
	*slot_of(s, s->sending) = (struct swarm_slot){ .full = (1ULL << pieces) - 1 };
	if (s->sending++ < s->begun)
		return true;
	s->begun++;
	s->frames += c->frames;
	w->counters.combos++;
	w->counters.frames += c->frames;
	return true;
}

/* Finds the next piece to send. Returns whether there is one. */
static bool next_piece(struct swarm *w, struct swarm_sensor *s, uint64_t *count,
		       unsigned int *piece)
{
	for (uint64_t n = s->taken; n < s->sending || slot_begin(w, s); n++) {
		const struct swarm_slot *slot = slot_of(s, n);

		if (slot->sent != slot->full) {
			*count = n;
			*piece = __builtin_ctzll(~slot->sent);
			return true;
		}
	}
	return false;
}

static void send_piece(struct swarm *w, struct swarm_sensor *s, uint64_t count, unsigned int piece,
		       uint64_t now)
{
	const struct swarm_combo *c = swarm_combos_get(&w->combos, count);
	size_t offset = piece * piece_data(w), len = c->len - offset;
	uint8_t message[MESSAGE_MAX];
	struct swarm_flight *f;
	uint64_t number;

	if (len > piece_data(w))
		len = piece_data(w);
	piece_header_write(message, count, offset, c->len);
	memcpy(message + PIECE_HEADER_LEN, c->wire + offset, len);
	if (!offset) /* the sensor's id is in the combo's own header too */
		store_be(message + PIECE_HEADER_LEN + 2, s->sensor_id, 2);
	number = swarm_send(w, s, message, PIECE_HEADER_LEN + len, now);
	f = &s->flight[number % SWARM_FLIGHT];
	*f = (struct swarm_flight){ .combo = count, .piece = piece, .live = true };
	if (s->oldest + SWARM_FLIGHT <= number)
		s->oldest = number - SWARM_FLIGHT + 1;
	slot_of(s, count)->sent |= 1ULL << piece;
	s->in_flight++;
}

bool swarm_send_pieces(struct swarm *w, struct swarm_sensor *s, unsigned int max, uint64_t now)
{
	unsigned int piece;
	uint64_t count;

	if (!s->flight)
		s->flight = calloc(SWARM_FLIGHT, sizeof(*s->flight));
	while (s->up && s->flight && room(s) > CONTROL_ROOM && s->in_flight < s->window_now) {
		if (!next_piece(w, s, &count, &piece))
			return false;
		if (!max || w->tokens < 1)
			return true;
		if (!s->in_flight)
			s->progress_ns = now; /* nothing was awaited until now */
		send_piece(w, s, count, piece, now);
		if (w->due[s - w->sensors] > s->progress_ns + s->rto_ns)
			w->due[s - w->sensors] = s->progress_ns + s->rto_ns;
		w->tokens--;
		max--;
	}
	return false;
}

/* ---- what is acknowledged -------------------------------------------------------------------- */

static void landed(struct swarm_sensor *s, const struct swarm_flight *f)
{
	uint64_t count = s->taken + (uint32_t)(f->combo - (uint32_t)s->taken);

	if (count < s->sending && count - s->taken < PIECE_COMBOS_AHEAD)
		slot_of(s, count)->acked |= 1ULL << f->piece;
	if (s->window_now < SWARM_WINDOW)
		s->window_now++;
}

static void lost(struct swarm *w, struct swarm_sensor *s, const struct swarm_flight *f,
		 uint64_t number)
{
	uint64_t count = s->taken + (uint32_t)(f->combo - (uint32_t)s->taken);

	if (number >= s->cut) {
		s->cut = s->tx.next;
		s->window_now = s->window_now / 2 > 2 ? s->window_now / 2 : 2;
	}
	if (count >= s->sending || count - s->taken >= PIECE_COMBOS_AHEAD)
		return; /* taken in the meantime */
	slot_of(s, count)->sent &= ~(1ULL << f->piece) | slot_of(s, count)->acked;
	w->counters.retransmitted++;
}

/* Handles the datagrams in flight. Returns how many of them were received. */
static unsigned int flight_acked(struct swarm *w, struct swarm_sensor *s, const struct ack *a)
{
	unsigned int got = 0;

	for (uint64_t n = s->oldest; s->flight && n <= a->highest && n < s->tx.next; n++) {
		struct swarm_flight *f = &s->flight[n % SWARM_FLIGHT];
		bool has = ack_has(a, n);

		if (f->live && (has || n + REORDERED <= a->highest)) {
			f->live = false;
			s->in_flight--;
			got += has;
			if (has)
				landed(s, f);
			else
				lost(w, s, f, n);
		}
		if (!f->live && n == s->oldest)
			s->oldest++;
	}
	return got;
}

static void settle(struct swarm *w, struct swarm_sensor *s, uint64_t settled)
{
	for (; s->settled < settled && s->settled < s->begun; s->settled++) {
		const struct swarm_combo *c = swarm_combos_get(&w->combos, s->settled);

		w->counters.combos_settled++;
		w->counters.frames_settled += c ? c->frames : 0;
		s->settled_frames += c ? c->frames : 0;
	}
}

void swarm_acked(struct swarm *w, struct swarm_sensor *s, const struct ack *a, uint64_t now)
{
	bool moved = flight_acked(w, s, a) > 0;

	if (a->highest > s->acked && a->highest < s->tx.next)
		s->acked = a->highest;
	settle(w, s, a->settled);
	if (a->taken >= s->settled)
		s->floor_due = false;
	if (a->taken > s->taken && a->taken <= s->begun) {
		s->taken = a->taken;
		if (s->sending < s->taken)
			s->sending = s->taken;
		moved = true;
	}
	s->held = a->held;
	if (moved) {
		s->progress_ns = now;
		s->rto_ns = RTO_MIN_NS;
	}
	if (a->flags & ACK_FINAL && s->final_sent && s->settled == s->begun && !s->done) {
		s->done = true;
		w->done++;
		return;
	}
	swarm_ready(w, s);
}

static bool is_held(const struct swarm_sensor *s, uint64_t count)
{
	uint64_t n = count - s->taken - 1;

	return count > s->taken && n < 64 && (s->held >> n & 1);
}

void swarm_send_again(struct swarm *w, struct swarm_sensor *s)
{
	for (uint64_t n = s->taken; n < s->sending; n++) {
		struct swarm_slot *slot = slot_of(s, n);

		if (is_held(s, n))
			continue;
		if (slot->acked == slot->full) /* the collector dropped the whole combo */
			slot->acked = 0;
		w->counters.retransmitted += __builtin_popcountll(slot->sent & ~slot->acked);
		slot->sent = slot->acked;
	}
	for (unsigned int n = 0; s->flight && n < SWARM_FLIGHT; n++)
		s->flight[n].live = false;
	s->in_flight = 0;
	s->oldest = s->tx.next;
	s->window_now = 4;
	swarm_ready(w, s);
}

void swarm_session_begun(struct swarm *w, struct swarm_sensor *s, uint64_t now)
{
	s->acked = s->held = s->cut = s->waits_ns = 0;
	s->unheard = 0;
	s->echo_due = s->heard_due = s->final_sent = false;
	s->floor_due = s->settled > 0;
	s->rto_ns = RTO_MIN_NS;
	s->progress_ns = s->totals_ns = now;
	s->between_ns = UINT64_MAX;
	s->taken = s->sending = s->settled; /* an ended collector may have lost the rest */
	swarm_send_again(w, s);
	s->window_now = WINDOW_START;
	swarm_send_control(w, s, now); /* the totals make the session the current one */
	w->due[s - w->sensors] = now;
}
