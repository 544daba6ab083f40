// SPDX-License-Identifier: GPL-2.0
/*
 * In flight, window (in_flight.h): the limits: numbers that the collector can know, the congestion
 * window, and pacing. In: datagrams' fates, time. Out: how many may be sent, and when. Always
 * holds: the congestion window has at least IN_FLIGHT_CWND_MIN datagrams, and at most half of the
 * collector's window.
 */
#include "in_flight.h"

#define UNIT 1024      /* of pacing */
#define JUDGED_MIN 128 /* datagrams */
#define GROWTH 4       /* datagrams per round, above the threshold */

void in_flight_window_begin(struct in_flight *f, uint64_t now_ns)
{
	f->paced_ns = now_ns;
	f->cwnd = IN_FLIGHT_CWND_FIRST;
	f->threshold = f->window;
	f->paced = IN_FLIGHT_BURST * UNIT;
}

uint64_t in_flight_numbers_left(const struct in_flight *f)
{
	uint64_t until = f->highest + shroud_room(f->highest, f->window);

	/* An older datagram in flight would be forgotten. */
	if (until >= f->oldest + f->slots)
		until = f->oldest + f->slots - 1;
	return until + 1 > f->next ? until + 1 - f->next : 0;
}

/* ---- pacing ---------------------------------------------------------------------------------- */

/* A little more than a window per round trip, so that pacing is not the limit. */
static uint64_t pace(const struct in_flight *f)
{
	return (uint64_t)f->cwnd * UNIT * (f->cwnd < f->threshold ? 8 : 5) / 4;
}

static bool is_paced(const struct in_flight *f)
{
	return f->least_ns > IN_FLIGHT_PACED_NS;
}

static void pacing_fill(struct in_flight *f, uint64_t now_ns)
{
	uint64_t most = IN_FLIGHT_BURST * UNIT, passed = now_ns - f->paced_ns;

	f->paced_ns = now_ns;
	if (passed >= f->least_ns)
		f->paced = most;
	else
		f->paced += pace(f) * passed / f->least_ns;
	if (f->paced > most)
		f->paced = most;
}

uint32_t in_flight_may_send(struct in_flight *f, uint64_t now_ns)
{
	uint64_t numbers = in_flight_numbers_left(f), n;

	if (f->under_way >= f->cwnd) {
		f->limited = true;
		return 0;
	}
	if (numbers <= IN_FLIGHT_RESERVE)
		return 0;
	n = f->cwnd - f->under_way;
	if (n > numbers - IN_FLIGHT_RESERVE)
		n = numbers - IN_FLIGHT_RESERVE;
	if (is_paced(f)) {
		pacing_fill(f, now_ns);
		if (n > f->paced / UNIT)
			n = f->paced / UNIT;
	}
	return n;
}

uint64_t in_flight_paced_ns(const struct in_flight *f)
{
	uint64_t rate = pace(f), missing;

	if (!is_paced(f) || f->under_way >= f->cwnd || f->paced >= UNIT ||
	    in_flight_numbers_left(f) <= IN_FLIGHT_RESERVE)
		return UINT64_MAX;
	missing = UNIT - f->paced;
	return f->paced_ns + (missing * f->least_ns + rate - 1) / rate;
}

void in_flight_pace(struct in_flight *f)
{
	if (is_paced(f))
		f->paced -= f->paced < UNIT ? f->paced : UNIT;
}

/* ---- congestion window ----------------------------------------------------------------------- */

void in_flight_grow(struct in_flight *f)
{
	if (!f->limited || f->cwnd >= f->window / 2)
		return;
	if (f->cwnd < f->threshold) {
		f->cwnd++;
	} else if ((f->credit += GROWTH) >= f->cwnd) {
		f->credit = 0;
		f->cwnd++;
	}
}

void in_flight_turn_round(struct in_flight *f)
{
	if (f->highest < f->round_end)
		return;
	f->limited = f->under_way + IN_FLIGHT_CWND_MIN >= f->cwnd;
	f->round_end = f->next;
	if (f->round_ended < JUDGED_MIN)
		return;
	if (f->round_lost * 4 > f->round_ended + JUDGED_MIN / 4) {
		f->cwnd = f->cwnd / 2 > IN_FLIGHT_CWND_MIN ? f->cwnd / 2 : IN_FLIGHT_CWND_MIN;
		f->threshold = f->cwnd;
	}
	f->round_ended = f->round_lost = 0;
	f->overtaken_ns -= f->overtaken_ns / 8; /* decays if it is not seen again */
}

void in_flight_begin_anew(struct in_flight *f)
{
	f->threshold = f->cwnd / 2 > IN_FLIGHT_CWND_FIRST ? f->cwnd / 2 : IN_FLIGHT_CWND_FIRST;
	f->cwnd = IN_FLIGHT_CWND_MIN;
}
