/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sessions: handshakes, renewals, a change of collector, and an agent that continues the run of a
 * stopped or killed one. Datagrams of earlier sessions are still under way meanwhile, and come at
 * any time. README.md lists the parts left out, and says why the bounds suffice.
 *
 * A combo is two pieces. Each agent lays out a combo's frames in its own way (`layout`), so pieces
 * of two agents must never be joined. The datagrams under way are a bit mask of their content, one
 * set per session.
 */
#define COMBOS 2
#define COLLECTORS 2
#define SESSIONS 5
#define bit(n) (1 << (n))
#define PIECE(c, p) bit(2 * (c) + (p)) /* 0 to 3 */
#define FINAL bit(4)
#define FLOOR(c) bit(4 + (c)) /* 5 and 6; a FLOOR of combo 0 has no effect */
#define NONE 255

/* The budget of faults: unneeded handshakes, renewals, agents that end. */
#ifndef SET_UPS
#define SET_UPS 1
#define RENEWALS 0
#define ENDS 1
#endif
byte set_ups = SET_UPS, renewals = RENEWALS, ends = ENDS;

/* ---- sessions: session s is of agent.. with collector.. -------------------------------------- */

byte sessions; /* how many there have been */
byte with[SESSIONS];
byte layout[SESSIONS];
bool renewed[SESSIONS];
byte net[SESSIONS];
byte promised[SESSIONS]; /* combos, by the FINAL of the session's agent */

/* ---- sensor ---------------------------------------------------------------------------------- */

byte agent;		/* 0, then 1 */
byte present = NONE;	/* session */
byte lowest, end, begin; /* store; the agent's first combo */
bool stopping;
byte excused;	/* combos that may be lost: with a killed agent, or given up by a stopped one */
bool done, finished;

/* ---- collectors ------------------------------------------------------------------------------ */

typedef collector_t {
	byte current, candidate, old;
	byte next, settled, buffer, floor;
	byte have[COMBOS]; /* bits 0, 1: pieces; 2, 3: their layouts */
	byte written, missing, exported;
	bool final_heard, final_confirmed;
	bool got_final; /* in the present session: ACK's highest is the FINAL's number or more */
}
collector_t at[COLLECTORS];

byte s, k, c, p; /* of one step */

#define whole(k, c) ((at[k].have[c] & 3) == 3)
#define there at[with[present]]

/* ---- sensor ---------------------------------------------------------------------------------- */

/* The next agent: agent/export/resume.c: resume */
inline next_agent(from)
{
	begin = from;
	c = lowest;
	do
	:: c < begin -> excused = excused | bit(c); c++
	:: else -> break
	od;
	lowest = begin;
	end = begin;
	agent = 1;
	stopping = false;
	present = NONE;
	c = 0
}

#define all_settled(k) (k.final_confirmed || (k.final_heard && k.buffer == 0 && \
			k.next >= k.exported && k.settled >= k.next))
#define is_over(k) (k.final_confirmed && k.got_final && !stopping && end == COMBOS)

#define is_live(s, k) (s == present || s == at[k].current || s == at[k].candidate || s == at[k].old)

/* No one knows the addresses of other sessions: datagrams under way there are lost. */
inline tidy(k)
{
	s = 0;
	do
	:: s < sessions ->
		if
		:: with[s] == k && !is_live(s, k) ->
			net[s] = 0;
			layout[s] = 0;
			renewed[s] = false;
			promised[s] = 0
		:: else
		fi;
		s++
	:: else -> break
	od;
	s = 0
}

inline session_new(collector)
{
	with[sessions] = collector;
	layout[sessions] = agent;
	at[collector].candidate = sessions;
	present = sessions;
	sessions++;
	tidy(0);
	tidy(1)
}

/* Pieces of combo c that the collector lacks, and that are not under way. */
#define missing_pieces(c) ((~there.have[c] & 3) << (2 * c) & ~net[present])
#define lacks(c) (c >= there.next && missing_pieces(c))

active proctype sensor()
{
	d_step {
		k = 0;
		do
		:: k < COLLECTORS ->
			at[k].current = NONE;
			at[k].candidate = NONE;
			at[k].old = NONE;
			k++
		:: else -> break
		od;
		k = 0
	};
	do
	/* agent/export/handshake.c: session_handshake; agent/export/session_link.c: session_begin;
	 * agent/export/session.c: session_try_better; collector/network/handshake.c: handshake_take.
	 * m1 and m2 are one step. */
	:: d_step { !done && present == NONE -> session_new(0) }
	:: d_step { !done && present == NONE && sessions -> session_new(1) }
	:: d_step { !done && set_ups && present != NONE -> set_ups--; session_new(0) }
	:: d_step { !done && set_ups && present != NONE -> set_ups--; session_new(1) }
	/* agent/export/session.c: session_renew; collector/network/handshake.c: handshake_renew: the session is live
	 * at the collector */
	:: d_step { !done && renewals && present != NONE && there.current == present ->
		renewals--;
		renewed[sessions] = true;
		session_new(with[present]) }
	/* agent/export/deliver.c: deliver_put */
	:: d_step { !done && end < COMBOS && !stopping -> end++ }
	/* agent/export/deliver_send.c: send_new, send_again. Lost datagrams are sent again:
	 * delivery.pml */
	:: d_step { !done && present != NONE && lowest == 0 && end > 0 && lacks(0) ->
		net[present] = net[present] | missing_pieces(0) }
	:: d_step { !done && present != NONE && lowest <= 1 && end > 1 && lacks(1) ->
		net[present] = net[present] | missing_pieces(1) }
	/* agent/export/deliver_send.c: deliver_floor */
	:: d_step { !done && present != NONE && lowest > there.next && !(net[present] & FLOOR(lowest)) ->
		net[present] = net[present] | FLOOR(lowest) }
	/* agent/export/ledger.c: export_tell. This agent's final totals. */
	:: d_step { !done && present != NONE && (stopping || end == COMBOS) &&
		    !(net[present] & FINAL) && !(there.current == present && there.got_final) ->
		promised[present] = end;
		net[present] = net[present] | FINAL }
	/* collector/network/session_send.c: session_send_ack; collector/combo/runs.c: runs_ack,
	 * all_settled; agent/export/session_mailbox.c: session_ack; agent/export/deliver_receive.c:
	 * deliver_ack. An ACK belongs to its session. A late one says less, as if it had come
	 * before. */
	:: d_step { !done && present != NONE && there.current == present &&
		    (there.settled > lowest && lowest < end || is_over(there)) ->
		lowest = (there.settled < end -> (there.settled > lowest -> there.settled : lowest) : end);
		done = is_over(there) }
#ifdef FAULT_ACK_OF_ANOTHER
	:: d_step { !done && present != NONE && with[present] != 0 && at[0].next > lowest &&
		    lowest < end ->
		lowest = (at[0].next < end -> at[0].next : end) }
#endif
	/* An agent that is told to stop reports this, and another one continues the run. */
	:: d_step { !done && agent == 0 && ends && !stopping && end < COMBOS ->
		ends--;
		stopping = true }
	:: d_step { stopping -> next_agent(end) }
	/* SIGKILL: the last combo is in the journal as pending, or committed. */
	:: d_step { !done && agent == 0 && ends && !stopping ->
		ends--;
		next_agent(end) }
	:: d_step { !done && agent == 0 && ends && !stopping && end > lowest ->
		ends--;
		next_agent(end - 1) }
	:: done -> break
	od;
	assert(done);
	d_step {
		c = 0;
		do
		:: c < COMBOS ->
			/* In a file, or finally given up by the sensor. */
			assert(((at[0].written | at[1].written | excused) & bit(c)));
			c++
		:: else -> break
		od;
		/* The confirming collector has each combo in a file, or as missing; the other has
		 * the rest. */
		assert(there.buffer == 0 && there.next >= COMBOS);
		assert((there.written | there.missing) == bit(COMBOS) - 1);
		assert((there.missing & ~(excused | at[1 - with[present]].written)) == 0);
		finished = true
	}
}

#include "sessions_collector.pml"

init {
	run collector(0);
	run collector(1)
}

ltl ends_ { <> finished }
