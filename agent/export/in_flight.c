// SPDX-License-Identifier: GPL-2.0
/*
 * In flight: see in_flight.h. In: numbers sent, acknowledgements, time. Out: lost datagrams. Always
 * holds: datagrams in flight have numbers from `oldest` to before `next`, at most `slots` of them.
 */
#include "in_flight.h"

#include <stddef.h>
#include <string.h>

#define MS 1000000ULL
#define PROBE_MIN_NS (30 * MS) /* a collector may wait 20 ms with an ACK */

static struct in_flight_sent *sent_at(struct in_flight *f, uint64_t number)
{
	return &f->sent[number % f->slots];
}

void in_flight_reset(struct in_flight *f, uint32_t window, uint64_t now_ns)
{
	uint64_t srtt = f->srtt_ns, rttvar = f->rttvar_ns;
	uint32_t used = f->next < f->slots ? f->next : f->slots;

	/* Unwritten pages take no memory, and are zero. */
	memset(f->sent, 0, used * sizeof(f->sent[0]));
	memset(f, 0, offsetof(struct in_flight, sent));
	f->srtt_ns = srtt;
	f->rttvar_ns = rttvar;
	f->window = window < IN_FLIGHT_MAX ? window : IN_FLIGHT_MAX;
	f->slots = f->window > IN_FLIGHT_MAX / 4 ? IN_FLIGHT_MAX : IN_FLIGHT_MAX / 2;
	f->next = f->oldest = 1;
	f->progress_ns = now_ns;
	in_flight_window_begin(f, now_ns);
}

/* ---- sent ------------------------------------------------------------------------------------ */

void in_flight_send(struct in_flight *f, const struct in_flight_sent *d)
{
	struct in_flight_sent *own = sent_at(f, f->next++);

	*own = *d;
	own->state = IN_FLIGHT_UNDER_WAY;
	if (d->piece == IN_FLIGHT_OTHER) {
		f->under_way_other++;
		return;
	}
	f->under_way++;
	in_flight_pace(f);
}

/* ---- round-trip time ------------------------------------------------------------------------- */

/* RFC 9002, section 5.3. Includes the collector's delay, which decides when ACKs come. */
static void measure(struct in_flight *f, uint64_t rtt_ns)
{
	uint64_t apart = rtt_ns > f->srtt_ns ? rtt_ns - f->srtt_ns : f->srtt_ns - rtt_ns;

	if (!f->least_ns || rtt_ns < f->least_ns)
		f->least_ns = rtt_ns ?: 1;
	if (!f->srtt_ns) {
		f->srtt_ns = rtt_ns ?: 1;
		f->rttvar_ns = rtt_ns / 2;
		return;
	}
	f->rttvar_ns = (3 * f->rttvar_ns + apart) / 4;
	f->srtt_ns = (7 * f->srtt_ns + rtt_ns) / 8 ?: 1;
}

uint64_t in_flight_rto_ns(const struct in_flight *f)
{
	uint64_t rto = f->srtt_ns ? f->srtt_ns + 4 * f->rttvar_ns : 3 * IN_FLIGHT_RTO_MIN_NS;

	if (rto < IN_FLIGHT_RTO_MIN_NS)
		rto = IN_FLIGHT_RTO_MIN_NS;
	rto = f->timeouts < 6 ? rto << f->timeouts : IN_FLIGHT_RTO_MAX_NS;
	return rto < IN_FLIGHT_RTO_MAX_NS ? rto : IN_FLIGHT_RTO_MAX_NS;
}

/* Returns how long a datagram may take after later ones have arrived: little longer than usual. If
 * only few have overtaken it, as long as without later ones. */
static uint64_t patience(const struct in_flight *f, uint64_t number)
{
	uint64_t soon = f->srtt_ns * 9 / 8 + MS + f->overtaken_ns;
	uint64_t late = f->srtt_ns * 5 / 4 + 4 * f->rttvar_ns + 10 * MS + f->overtaken_ns;

	return f->highest - number > IN_FLIGHT_OVERTAKEN ? soon : late;
}

/* ---- lost and acknowledged ------------------------------------------------------------------- */

static void ends(struct in_flight *f, struct in_flight_sent *d, int state)
{
	if (d->piece == IN_FLIGHT_OTHER)
		f->under_way_other--;
	else
		f->under_way--;
	d->state = state;
	f->round_ended++;
}

static void lost(struct in_flight *f, uint64_t number, in_flight_told *told, void *context)
{
	struct in_flight_sent *d = sent_at(f, number);

	ends(f, d, IN_FLIGHT_LOST);
	f->round_lost++;
	f->last_lost = number > f->last_lost ? number : f->last_lost;
	told(context, d);
}

static void pass_oldest(struct in_flight *f)
{
	while (f->oldest < f->next && sent_at(f, f->oldest)->state != IN_FLIGHT_UNDER_WAY)
		f->oldest++;
}

static void find_lost(struct in_flight *f, uint64_t now_ns, in_flight_told *told, void *context)
{
	for (uint64_t n = f->oldest; n < f->highest; n++) {
		const struct in_flight_sent *d = sent_at(f, n);

		if (d->state != IN_FLIGHT_UNDER_WAY)
			continue;
		/* No ACK can report it any more, or it is late. */
		if (f->highest - n >= SHROUD_BEHIND || now_ns >= d->sent_ns + patience(f, n))
			lost(f, n, told, context);
	}
	pass_oldest(f);
}

static void acked(struct in_flight *f, struct in_flight_sent *d, uint64_t now_ns,
		  in_flight_told *told, void *context)
{
	if (d->state == IN_FLIGHT_UNDER_WAY) {
		ends(f, d, IN_FLIGHT_ACKED);
		if (d->piece != IN_FLIGHT_OTHER)
			in_flight_grow(f);
	} else { /* it was not lost: wait as long for others */
		uint64_t took = now_ns - d->sent_ns, usual = f->srtt_ns * 9 / 8 + MS;

		d->state = IN_FLIGHT_ACKED;
		f->round_lost -= f->round_lost && !d->timed_out ? 1 : 0;
		if (!d->timed_out && took > usual && took - usual > f->overtaken_ns)
			f->overtaken_ns = took - usual < in_flight_rto_ns(f) ? took - usual
									     : in_flight_rto_ns(f);
	}
	told(context, d);
}

static uint64_t first_of(const struct in_flight *f, const struct ack *a)
{
	uint64_t first = a->highest > SHROUD_BEHIND ? a->highest - SHROUD_BEHIND + 1 : 1;

	/* Numbers below `oldest` matter only if a loss was reported. */
	return f->last_lost < first && f->oldest > first ? f->oldest : first;
}

int in_flight_ack(struct in_flight *f, const struct ack *a, uint64_t now_ns, in_flight_told *told,
		  void *context)
{
	bool is_new = false;

	if (a->highest >= f->next)
		return -1;
	if (a->highest > f->highest) {
		const struct in_flight_sent *d = sent_at(f, a->highest);

		if (d->state == IN_FLIGHT_UNDER_WAY && ack_has(a, a->highest))
			measure(f, now_ns - d->sent_ns);
		f->highest = a->highest;
		is_new = true;
	}
	for (uint64_t n = first_of(f, a); n <= a->highest; n++) {
		struct in_flight_sent *d = sent_at(f, n);

		if ((d->state == IN_FLIGHT_UNDER_WAY || d->state == IN_FLIGHT_LOST) &&
		    ack_has(a, n)) {
			acked(f, d, now_ns, told, context);
			is_new = true;
		}
	}
	if (is_new) {
		f->timeouts = f->probes = 0;
		f->progress_ns = now_ns;
	}
	find_lost(f, now_ns, told, context);
	in_flight_turn_round(f);
	return 0;
}

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t timeout_ns(const struct in_flight *f)
{
	uint64_t since = f->sent[f->oldest % f->slots].sent_ns;

	return (since > f->progress_ns ? since : f->progress_ns) + in_flight_rto_ns(f);
}

uint64_t in_flight_probe_ns(const struct in_flight *f)
{
	uint64_t since = f->sent[f->oldest % f->slots].sent_ns;
	uint64_t usual = 2 * f->srtt_ns + f->rttvar_ns;

	if (f->oldest == f->next || !f->srtt_ns)
		return UINT64_MAX;
	since = since > f->progress_ns ? since : f->progress_ns;
	since = since > f->probed_ns ? since : f->probed_ns;
	return since +
	       ((usual > PROBE_MIN_NS ? usual : PROBE_MIN_NS) << (f->probes < 6 ? f->probes : 6));
}

void in_flight_probed(struct in_flight *f, uint64_t now_ns)
{
	f->probed_ns = now_ns;
	f->probes++;
}

uint64_t in_flight_due_ns(const struct in_flight *f)
{
	const struct in_flight_sent *d = &f->sent[f->oldest % f->slots];
	uint64_t due;

	if (f->oldest == f->next)
		return UINT64_MAX;
	due = timeout_ns(f);
	if (f->oldest < f->highest && d->sent_ns + patience(f, f->oldest) < due)
		due = d->sent_ns + patience(f, f->oldest);
	return due;
}

void in_flight_lose_all(struct in_flight *f, in_flight_told *told, void *context)
{
	uint32_t had_lost = f->round_lost, had_ended = f->round_ended;

	for (uint64_t n = f->oldest; n < f->next; n++) {
		if (sent_at(f, n)->state != IN_FLIGHT_UNDER_WAY)
			continue;
		sent_at(f, n)->timed_out = true;
		lost(f, n, told, context);
	}
	f->round_lost = had_lost;
	f->round_ended = had_ended;
	pass_oldest(f);
}

void in_flight_expire(struct in_flight *f, uint64_t now_ns, in_flight_told *told, void *context)
{
	find_lost(f, now_ns, told, context);
	if (f->oldest == f->next || now_ns < timeout_ns(f))
		return;
	/* No ACK for long: everything is sent again. If that is not answered either, little at a
	 * time. */
	if (f->under_way && f->timeouts)
		in_flight_begin_anew(f);
	f->timeouts++;
	f->progress_ns = now_ns;
	in_flight_lose_all(f, told, context);
}
