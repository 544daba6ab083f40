// SPDX-License-Identifier: GPL-2.0
/*
 * Deliver, receiving: see deliver.h. In: ACKs, overdue datagrams. Out: settled combos, pieces to
 * send again, and the datagrams' size. Always holds: an ACK for a datagram that was never sent is
 * ignored.
 */
#include "common/log.h"
#include "deliver.h"

#define BIG_LOST 6	  /* in a row, while small ones came through: the path takes no big ones */
#define BIG_LOST_AFTER 30 /* the same after some were acknowledged: losses may be random */
#define SMALL_ACKED 2
#define MS 1000000ULL
#define PIECES_LOST 30	    /* in a row: the path takes none. At 40 % random loss, 1e-12 */
#define PAUSE_NS (100 * MS) /* doubled each time, up to IN_FLIGHT_RTO_MAX_NS */
#define PAUSES_TOLD 4

/* ---- what has become of datagrams ------------------------------------------------------------ */

static void told_big(struct deliver *d, const struct in_flight_sent *sent)
{
	if (sent->state == IN_FLIGHT_LOST && d->full)
		return; /* it may have arrived */
	if (sent->state == IN_FLIGHT_LOST) {
		d->big_lost++;
		if (sent->sent_ns > d->big_lost_ns)
			d->big_lost_ns = sent->sent_ns;
		return;
	}
	d->big_lost = d->small_acked = 0;
	d->big_acked = true;
}

static void told(void *context, const struct in_flight_sent *sent)
{
	struct deliver *d = context;
	/* Extends the low 32 bits of a count that is near the stored ones. */
	uint64_t count = d->store.lowest + (int32_t)(sent->combo - (uint32_t)d->store.lowest);
	struct store_combo *c;

	if (sent->is_big)
		told_big(d, sent);
	else if (sent->state == IN_FLIGHT_ACKED && sent->sent_ns > d->big_lost_ns)
		d->small_acked += d->big_lost > 0;
	if (sent->piece == IN_FLIGHT_OTHER)
		return;
	if (sent->state == IN_FLIGHT_ACKED)
		d->pieces_lost = d->pauses = 0;
	else
		d->pieces_lost += !sent->timed_out; /* in_flight has a back-off for these */
	c = store_get(&d->store, count);
	if (!c || !c->cut || c->epoch != sent->epoch || c->acked >> sent->piece & 1)
		return;
	if (sent->state == IN_FLIGHT_LOST) {
		c->pending |= 1U << sent->piece;
		d->resend = count < d->resend ? count : d->resend;
		return;
	}
	c->acked |= 1U << sent->piece;
	c->pending &= ~(1U << sent->piece);
	if (deliver_is_whole(c))
		c->whole_ns = d->flight.progress_ns;
}

/* ---- what the path takes --------------------------------------------------------------------- */

void deliver_cut_anew(struct deliver *d)
{
	for (uint64_t n = d->taken; n < d->store.end && n < d->taken + PIECE_COMBOS_AHEAD; n++) {
		struct store_combo *c = store_get(&d->store, n);

		if (c && c->cut && !deliver_is_whole(c)) {
			deliver_cut(d, c);
			d->resend = n < d->resend ? n : d->resend;
		}
	}
}

/* Small messages come through and pieces do not. The pieces stay in the store and are tried at
 * growing intervals. Only the store's size limits what is kept. */
static void pause_pieces(struct deliver *d, bool tell, uint64_t now_ns)
{
	uint64_t wait = PAUSE_NS << (d->pauses < 6 ? d->pauses : 6);

	d->pauses++;
	d->pieces_lost = 0;
	d->pause_ends_ns = now_ns + (wait < IN_FLIGHT_RTO_MAX_NS ? wait : IN_FLIGHT_RTO_MAX_NS);
	if (!d->told_pause && (tell || (d->pauses == PAUSES_TOLD && !d->full))) {
		log_line("collector %s: the way there takes no datagrams of %d bytes (path MTU); "
			 "frames wait in the store",
			 d->session->peer, SHROUD_DATAGRAM_PADDED);
		d->told_pause = true;
	}
}

void deliver_take_smaller(struct deliver *d, uint64_t now_ns)
{
	in_flight_lose_all(&d->flight, told, d);
	if (d->resend < d->unsent)
		d->unsent = d->resend; /* combos from there on count as not sent */
	if (d->datagram_len == SHROUD_DATAGRAM_PADDED || d->path.padded) {
		pause_pieces(d, true, now_ns);
		return;
	}
	d->pieces_lost = 0;
	log_line("collector %s: the way there takes no datagrams of %zu bytes; going on with %d",
		 d->session->peer, d->datagram_len, SHROUD_DATAGRAM_PADDED);
	d->datagram_len = SHROUD_DATAGRAM_PADDED;
	deliver_cut_anew(d);
}

/* ---- ACKs ------------------------------------------------------------------------------------ */

static void receive_whole(struct deliver *d, uint64_t count, uint64_t now_ns)
{
	struct store_combo *c = store_get(&d->store, count);

	if (!c || (deliver_is_whole(c) && !c->pending))
		return;
	if (!c->cut)
		deliver_cut(d, c);
	c->pending = 0;
	c->acked = deliver_all_pieces(c);
	c->whole_ns = now_ns;
}

static void receive_held(struct deliver *d, uint64_t now_ns)
{
	if (d->whole)
		receive_whole(d, d->taken, now_ns);
	for (uint64_t bits = d->held; bits; bits &= bits - 1)
		receive_whole(d, d->taken + 1 + __builtin_ctzll(bits), now_ns);
}

/* Whether the collector has reported that a combo is complete. */
static bool is_held(const struct deliver *d, uint64_t count)
{
	uint64_t n = count - d->taken - 1;

	if (count == d->taken)
		return d->whole;
	return count > d->taken && n < 64 && (d->held >> n & 1);
}

void deliver_ack(struct deliver *d, const struct ack *a, uint64_t now_ns)
{
	d->full |= (a->flags & ACK_FULL) != 0;
	if (in_flight_ack(&d->flight, a, now_ns, told, d))
		return; /* authentic, but about a datagram never sent: ignore it */
	if (!(a->flags & ACK_FULL) && !d->pieces_lost)
		d->full = false;
	if (a->taken > d->taken)
		d->checks = 0;
	if (a->taken >= d->taken) { /* not an older one that was overtaken */
		d->taken = a->taken;
		d->held = a->held;
		d->whole = a->flags & ACK_WHOLE;
		receive_held(d, now_ns);
	}
	if (a->settled > d->settled) {
		d->settled = a->settled;
		deliver_keep_from(d, d->settled);
		d->progress_ns = now_ns;
		d->asked = 0;
	}
	if (a->settled >= d->store.lowest)
		d->floor_due = false;
	if (d->final_number && a->highest >= d->final_number && a->flags & ACK_FINAL)
		d->final = true;
}

bool deliver_receive_acks(struct deliver *d, uint64_t now_ns)
{
	bool heard = false;
	struct ack a;

	for (; session_ack(d->session, d->path.generation, &a); heard = true)
		deliver_ack(d, &a, now_ns);
	return heard;
}

/* The collector received a complete combo and then had no room for it: sends it again. */
static void check(struct deliver *d, uint64_t now_ns)
{
	uint64_t rto = in_flight_rto_ns(&d->flight) << (d->checks < 6 ? d->checks : 6);
	bool missing = false;

	rto = rto < IN_FLIGHT_RTO_MAX_NS ? rto : IN_FLIGHT_RTO_MAX_NS;
	d->check_ns = now_ns + rto;
	for (uint64_t n = d->taken; n < d->unsent; n++) {
		struct store_combo *c = store_get(&d->store, n);

		if (!c || is_held(d, n) || !deliver_is_whole(c) || now_ns < c->whole_ns + rto)
			continue;
		c->acked = 0;
		c->pending = deliver_all_pieces(c);
		c->epoch++;
		d->resend = n < d->resend ? n : d->resend;
		missing = true;
	}
	d->checks += missing;
}

void deliver_receive(struct deliver *d, uint64_t now_ns)
{
	bool heard = d->ops->receive(d, now_ns);

	if (heard && now_ns >= d->check_ns)
		check(d, now_ns);
	if (now_ns >= in_flight_due_ns(&d->flight))
		in_flight_expire(&d->flight, now_ns, told, d);
	if (d->big_lost >= (d->big_acked ? BIG_LOST_AFTER : BIG_LOST) &&
	    d->small_acked >= SMALL_ACKED && !d->path.padded &&
	    d->datagram_len > SHROUD_DATAGRAM_PADDED)
		deliver_take_smaller(d, now_ns);
	if (d->pieces_lost >= (d->pauses ? IN_FLIGHT_CWND_MIN : PIECES_LOST))
		pause_pieces(d, false, now_ns);
}
