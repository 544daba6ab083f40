/* SPDX-License-Identifier: GPL-2.0 */
/* The sensor of log.pml, two collectors with --sink, and their saluki-kafka put. */

/* ---- sensor ---------------------------------------------------------------------------------- */

byte s_run, at; /* the collector that the sensor uses */
byte lowest, end;

/* ---- collectors with --sink ------------------------------------------------------------------ */

typedef sink_t {
	byte of_run; /* NONE: not begun */
	byte next, settled, quiet, begin;
	byte window, sent; /* without an answer; and of these, passed to put in this connection */
	byte written, missing, unheard, refused; /* the ledger */
	byte d_next; /* the state file */
	/* its saluki-kafka put: taken and not in the log; answers for the collector */
	byte flight, acked, nacked;
	bool trouble; /* the producer ends */
	byte old;     /* messages of an ended producer, still under way to the brokers */
}
sink_t sink[2];

#define k sink[n]
#define here sink[at]

/* collector/output/output_flush.c: output_settle, output_settle_to; collector/output/output_sink.c:
 * settled */
inline settle(n)
{
	if
	:: k.window == 0 -> k.settled = k.next
	:: k.window && lowest_of(k.window) - run_first(run_of(lowest_of(k.window))) >
			       k.settled - run_first(k.of_run) ->
		k.settled = run_first(k.of_run) + lowest_of(k.window) -
			    run_first(run_of(lowest_of(k.window)))
	:: else
	fi
}

/* The brokers append a message. First copies of a run are in order, except combos that the sensor
 * gave up, and except after an error of a single message. */
inline append(what)
{
	assert(length < LOG); /* the model's bound, not the code's */
	assert((in_log & bit(what)) ||
	       (run_mask(run_of(what)) & (bit(what) - 1) &
		~(in_log | given_up | lost | NEVER | errored)) == 0);
	log[length] = what;
	length++;
	in_log = in_log | bit(what)
}

/* collector/sink/connection.c: connection_serve, answer; collector/sink/window.c: window_again;
 * kafka/put/put.c: carry, leave; kafka/put/produce.c: produce_open, produce_close; kafka/put/answers.c:
 * answers_forget. A new connection, and a new producer. */
inline connect_again(n)
{
	k.old = k.flight;
	k.flight = 0;
	k.acked = 0;
	k.nacked = 0;
	k.trouble = false;
#ifdef FAULT_FORGET_WINDOW
	k.window = k.window & ~k.sent;
	settle(n);
#endif
	k.sent = 0
}

#define unsent (k.window & ~k.sent)

/* collector/sink/connection.c: send_all; kafka/put/put.c: take_packets; kafka/put/produce.c: produce_take,
 * refuse */
inline pass(n)
{
	c = lowest_of(unsent);
	k.sent = k.sent | bit(c);
	if
	:: c == REFUSED -> k.nacked = k.nacked | bit(c)
	:: else ->
		k.flight = k.flight | bit(c);
#ifdef FAULT_SETTLE_BEFORE_LOG
		k.acked = k.acked | bit(c);
#endif
	fi;
	c = 0
}

/* kafka/put/produce.c: on_delivery; kafka/put/answers.c: answers_done */
inline deliver(n)
{
	c = lowest_of(k.flight);
	append(c);
	k.flight = k.flight & ~bit(c);
	k.acked = k.acked | bit(c);
	c = 0
}

/* kafka/put/answers.c: answers_send; collector/sink/sink.c: done; collector/sink/window.c: window_find,
 * window_remove; collector/model/ledger.c: ledger_delivered */
inline take_done(n)
{
	c = lowest_of(k.acked);
	k.acked = k.acked & ~bit(c);
	if
	:: k.window & bit(c) ->
		k.window = k.window & ~bit(c);
		k.sent = k.sent & ~bit(c);
		k.written = k.written | bit(c);
#ifdef FAULT_SETTLE_TO_NEWEST
		k.settled = (c + 1 > k.settled -> c + 1 : k.settled);
#endif
		settle(n)
	:: else
	fi;
	c = 0
}

/* collector/sink/connection.c: take_refused; the rest as for DONE */
inline take_refused(n)
{
	c = lowest_of(k.nacked);
	k.nacked = 0;
	k.window = k.window & ~bit(c);
	k.sent = k.sent & ~bit(c);
#ifndef FAULT_REFUSE_IN_SILENCE
	k.refused = k.refused | bit(c);
	said = said | bit(c);
#endif
	settle(n);
	c = 0
}

/* collector/network/messages.c: messages_floor; collector/combo/gaps.c: gap_reached, gaps_passed;
 * collector/model/ledger.c: ledger_floor; collector/output/output.c: output_passed */
inline take_floor()
{
	if
	:: here.next == here.quiet ->
		here.unheard = here.unheard | from_to(here.next, lowest);
		here.quiet = lowest
	:: else -> here.missing = here.missing | from_to(here.next, lowest)
	fi;
	here.next = lowest;
	if
	:: here.window == 0 -> settle(at)
	:: else
	fi
}

/* collector/combo/runs.c: next_take, runs_switch; collector/model/ledger.c: ledger_run_start;
 * collector/output/output.c: output_run_begin; collector/output/written.c: written_find */
inline run_begin()
{
	here.of_run = s_run;
	here.begin = (here.d_next > run_first(s_run) -> here.d_next : run_first(s_run));
	here.next = here.begin;
	here.settled = here.begin;
	here.quiet = here.begin
}

/* SIGKILL of a collector. Its put gets another connection then. No sensor has the combos of an ended
 * run. A killed collector has counted what the brokers refused. */
inline kill_sink(n)
{
	sink_kills--;
	lost = lost | (k.window & ~run_mask(s_run) & ~(in_log | sink[1 - n].window));
	connect_again(n);
	k.of_run = NONE;
	k.next = 0; k.settled = 0; k.quiet = 0; k.begin = 0; k.window = 0; k.sent = 0;
	k.written = 0; k.missing = 0; k.unheard = 0; k.refused = 0
}

/* collector/combo/runs.c: runs_must_wait; collector/output/output.c: output_is_written */
#ifdef FAULT_SWITCH_UNCONFIRMED
#define must_wait false
#else
#define must_wait here.window
#endif

/* collector/combo/runs.c: next_take; collector/model/ledger.c: ledger_run_moved. A session of a run
 * that the collector has; run_begin begins another one. */
inline session_begin()
{
	if
#ifndef FAULT_MOVED_IS_LOST
	:: here.of_run == s_run -> here.quiet = here.next
#endif
	:: else
	fi
}

#define counted(s) (s.written | s.missing | s.unheard | s.refused)
#define sink_is_over (lowest == COMBOS && no_message(sink[0]) && no_message(sink[1]))
#define no_message(s) !(s.window | s.flight | s.old | s.acked | s.nacked)

/* The ledgers balance. A frame that the sensor gave up is lost, also if the collector got it before
 * another one had the sensor: run_divide counts it then. */
inline check_ledger(n)
{
	if
	:: k.of_run == NONE || k.of_run != s_run
	:: else ->
		assert((counted(k) & run_mask(k.of_run)) == from_to(k.begin, k.next));
		assert(ones(k.written) + ones(k.missing) + ones(k.unheard) + ones(k.refused) ==
		       ones(counted(k)));
		assert((k.missing & ~given_up) == 0);
		/* collector/model/ledger.c: run_divide */
		c = (ones(given_up) > ones(k.missing) -> ones(given_up) - ones(k.missing) : 0);
		c = ones(k.missing) + (c < ones(k.unheard) -> c : ones(k.unheard));
		assert(c >= ones(given_up & (k.missing | k.unheard)) && c <= ones(given_up));
		c = 0
	fi
}

inline forget_sink(n)
{
	k.of_run = 0; k.next = 0; k.settled = 0; k.quiet = 0; k.begin = 0; k.d_next = 0; k.sent = 0;
	k.written = 0; k.missing = 0; k.unheard = 0; k.refused = 0; k.trouble = false
}

active proctype sensor()
{
	sink[0].of_run = NONE;
	sink[1].of_run = NONE;
	do
	/* agent/export/deliver.c: deliver_put */
	:: d_step { end < run_end(s_run) && end - lowest < STORE -> end++ }
	/* agent/export/export.c: export_make_room; agent/export/deliver.c: deliver_drop_oldest */
	:: d_step { gives_up && end - lowest == STORE ->
		gives_up--;
		given_up = given_up | bit(lowest);
		lowest++ }
	/* agent/export/session_link.c: session_begin: with the other collector, or with the same */
	:: d_step { moves && lowest < COMBOS -> moves--; at = 1 - at; session_begin() }
	:: d_step { moves && lowest < COMBOS && here.of_run == s_run -> moves--; session_begin() }
	/* SIGKILL of the agent, and another run. */
	:: d_step { restarts && s_run == 0 && end == RUN_END ->
		restarts--;
		lost = lost | (from_to(lowest, RUN_END) &
			       ~(in_log | said | sink[0].window | sink[1].window));
		s_run = 1;
		lowest = RUN_END;
		end = RUN_END }
	/* collector/combo/runs.c: runs_begin, runs_must_wait */
	:: d_step { here.of_run != s_run && !must_wait -> run_begin() }
	/* collector/combo/split.c: split_next; collector/output/output_sink.c: output_sink_combo;
	 * collector/sink/sink.c: sink_put; collector/sink/window.c: window_add */
	:: d_step { here.of_run == s_run && here.next >= lowest && here.next < end ->
		assert(!((here.window | counted(here)) & bit(here.next)));
		here.window = here.window | bit(here.next);
		here.next++ }
	:: d_step { here.of_run == s_run && lowest > here.next -> take_floor() }
	/* collector/combo/runs.c: ack_present; agent/export/deliver_receive.c: deliver_ack. What
	 * the sensor forgets is in the log or counted. */
	:: d_step { here.of_run == s_run && here.settled > lowest && lowest < end ->
		do
		:: lowest < here.settled && lowest < end ->
			assert((in_log | said) & bit(lowest));
			lowest++
		:: else -> break
		od;
		c = 0 }
	:: sink_is_over -> break
	od;
	assert(lowest == COMBOS);
	d_step {
		check_ledger(0);
		check_ledger(1);
		assert((in_log | NEVER | given_up | lost) == bit(COMBOS) - 1);
		forget_sink(0);
		forget_sink(1);
		at = 0; s_run = 0; moves = 0; sink_kills = 0; put_kills = 0; errors = 0;
		gives_up = 0; restarts = 0;
		reading = true
	}
}

proctype collector(byte n)
{
end_collector:
	do
	:: d_step { unsent && !k.trouble -> pass(n) }
	:: d_step { k.flight -> deliver(n) }
	:: d_step { k.acked -> take_done(n) }
	:: d_step { k.nacked -> take_refused(n) }
	/* The messages of an ended producer come late, and in order. The rest is lost. */
	:: d_step { k.old ->
		append(lowest_of(k.old));
		k.old = k.old & ~bit(lowest_of(k.old)) }
	:: d_step { k.old -> k.old = 0 }
	/* SIGKILL of put, or the loss of its connection */
	:: d_step { put_kills && k.sent && !k.old -> put_kills--; connect_again(n) }
	/* kafka/put/produce.c: fail_topic, refuse_batch, refuse_large, fail: later messages may be in
	 * the log already, until the producer ends. */
	:: d_step { errors && k.flight && !k.trouble ->
		errors--;
		errored = errored | bit(lowest_of(k.flight));
		k.flight = k.flight & ~bit(lowest_of(k.flight));
		k.trouble = true }
	:: d_step { k.trouble && !k.old -> connect_again(n) }
	/* collector/output/recover.c: recover_save: the state file is new, or as it was */
	:: d_step { sink_kills && k.of_run != NONE && !k.old -> kill_sink(n) }
	:: d_step { sink_kills && k.of_run == s_run && !k.old && k.settled > k.d_next ->
		k.d_next = k.settled;
		kill_sink(n) }
	od
}
