/* SPDX-License-Identifier: GPL-2.0 */
/* The collectors of sessions.pml. */

/* collector/combo/turns.c: turns_ready; collector/combo/split.c: split_next; collector/combo/reassemble.c: reassemble_take, pass_over */
inline take_due(k)
{
	do
	:: at[k].next < COMBOS && whole(k, at[k].next) ->
		c = at[k].next;
		/* Both pieces are of one agent. */
		assert((at[k].have[c] >> 2 & 1) == (at[k].have[c] >> 3 & 1));
		assert(!((at[k].written | at[k].buffer | at[k].missing) & bit(c)));
		at[k].buffer = at[k].buffer | bit(c);
		at[k].have[c] = 0;
		at[k].next++
	:: at[k].next < at[k].floor && !whole(k, at[k].next) ->
		at[k].have[at[k].next] = 0;
		at[k].missing = at[k].missing | bit(at[k].next);
		at[k].next++
	:: else -> break
	od;
	if
	:: at[k].buffer == 0 -> at[k].settled = at[k].next
	:: else
	fi
}

/* collector/combo/intake.c: intake_session; collector/combo/reassemble.c: reassemble_resume */
inline take_session(k)
{
	at[k].final_heard = false;
	at[k].final_confirmed = false;
#ifndef FAULT_KEEP_HALVES
	c = 0;
	do
	:: c < COMBOS ->
		at[k].have[c] = (whole(k, c) -> at[k].have[c] : 0);
		c++
	:: else -> break
	od
#endif
}

/* collector/network/sensor_sessions.c: sensor_sessions_begin, old_begin */
inline candidate_begin(k)
{
	at[k].old = at[k].current;
#ifndef FAULT_OLD_OF_A_SET_UP
	at[k].old = (renewed[at[k].candidate] -> at[k].current : NONE);
#endif
	at[k].current = at[k].candidate;
	at[k].candidate = NONE;
	at[k].got_final = false;
	if
	:: renewed[at[k].current]
	:: else -> take_session(k)
	fi
}

/* collector/combo/reassemble.c: reassemble_add */
inline take_piece(k, s, c, p)
{
	if
	:: c >= at[k].next && !(at[k].have[c] & bit(p)) ->
		at[k].have[c] = at[k].have[c] | bit(p) | layout[s] << (2 + p);
		take_due(k)
	:: else
	fi
}

/* collector/network/messages.c: messages_take, messages_totals, messages_floor */
inline take_message(k, s, what)
{
	if
	:: what == PIECE(0, 0) -> take_piece(k, s, 0, 0)
	:: what == PIECE(0, 1) -> take_piece(k, s, 0, 1)
	:: what == PIECE(1, 0) -> take_piece(k, s, 1, 0)
	:: what == PIECE(1, 1) -> take_piece(k, s, 1, 1)
	:: what == FLOOR(1) ->
		at[k].floor = (at[k].floor < 1 -> 1 : at[k].floor);
		take_due(k)
	:: what == FLOOR(2) -> at[k].floor = 2; take_due(k)
	:: what == FINAL ->
		at[k].exported = (promised[s] > at[k].exported -> promised[s] : at[k].exported);
		at[k].final_heard = true;
		at[k].got_final = at[k].got_final || s == at[k].current
	fi
}

#define mine(s) (net[s] && with[s] == me)

proctype collector(byte me)
{
	byte from, what;

end_collector:
	do
	/* collector/network/session_receive.c: session_receive_datagram, take_opened. Any datagram
	 * under way. */
	:: atomic {
		mine(0) || mine(1) || mine(2) || mine(3) || mine(4) ->
		from = 0;
		do
		:: mine(from) -> break
		:: (from < 1 && mine(1)) || (from < 2 && mine(2)) || (from < 3 && mine(3)) ||
		   (from < 4 && mine(4)) -> from++
		od;
		what = 1;
		do
		:: net[from] & what -> break
		:: net[from] & ~(2 * what - 1) -> what = what << 1
		od;
		assert(what);
		d_step {
			net[from] = net[from] & ~what;
			if
			:: from == at[me].candidate -> candidate_begin(me)
			:: else
			fi;
			if
			:: from == at[me].current || from == at[me].old ->
				take_message(me, from, what)
			:: else /* its address is no longer known */
			fi;
			tidy(me)
		};
		from = 0;
		what = 0;
		c = 0 }
	/* collector/combo/runs.c: runs_ack, all_settled: a confirmation is final */
	:: d_step { at[me].current != NONE && !at[me].final_confirmed && all_settled(at[me]) ->
		at[me].final_confirmed = true }
	/* collector/output/output_flush.c: output_flush, settle_pending */
	:: d_step { at[me].buffer ->
		at[me].written = at[me].written | at[me].buffer;
		at[me].buffer = 0;
		at[me].settled = at[me].next }
	od
}
