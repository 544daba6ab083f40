/* SPDX-License-Identifier: GPL-2.0 */
/* The collector of delivery.pml, with the network before it. */

/* collector/model/ledger.c: ledger_combo, ledger_floor, ledger_run_close: one frame per combo */
inline account(first)
{
	do
	:: accounted < first ->
		assert(!((written | buffer) & bit(accounted)));
		missing = missing | bit(accounted);
		lost_missing++;
		accounted++
	:: else -> break
	od
}

/* collector/combo/turns.c: turns_ready; collector/combo/split.c: split_next; collector/combo/reassemble.c: reassemble_take, pass_over */
inline take_due()
{
	do
	:: next < COMBOS && have[next] == WHOLE(next) ->
		assert(!((written | buffer) & bit(next)));
		account(next);
		accounted++;
		buffer = buffer | bit(next);
		have[next] = 0;
		next++
	:: next < floor && have[next] != WHOLE(next) ->
		have[next] = 0;
		next++
	:: else -> break
	od
}

/* collector/combo/gaps.c: gaps_floor, gap_reached, gaps_passed; collector/output/output.c: output_passed */
inline take_floor(count)
{
	if
	:: count >= next ->
		floor = (count > floor -> count : floor);
		take_due();
#ifdef FAULT_FLOOR_TWICE
		lost_missing = lost_missing + (count > accounted -> count - accounted : 0);
#endif
		if
		:: next == count -> account(count)
		:: else
		fi;
		settled = (buffer == 0 -> next : settled)
	:: else
	fi
}

/* collector/combo/reassemble.c: reassemble_add; collector/combo/reassemble_pool.c:
 * reassemble_pool_begin. `room`: whether the pool has space. */
inline take_piece(n, room)
{
	c = combo_of(n);
	if
	:: c < next -> kept = kept | bit(n)
	:: c >= next + AHEAD || !room ->
		skip /* it is not acknowledged, and sent again */
	:: else ->
		kept = kept | bit(n);
		have[c] = have[c] | bit(piece_of(n));
		take_due()
	fi
}

/* collector/network/session_receive.c: take_opened; wire/shroud.c: shroud_open: an address is used
 * up by its datagram. */
inline open_datagram(n, room)
{
	if
	:: received & bit(n)
	:: else ->
		received = received | bit(n);
		highest = (n > highest -> n : highest);
		if
		:: is_piece(n) -> take_piece(n, room)
		:: content(n) >= 16 && content(n) < 32 ->
			take_floor(content(n) - 16);
			kept = kept | bit(n)
		:: content(n) == FINAL ->
			final_heard = true;
			kept = kept | bit(n)
		:: content(n) == TOTALS -> kept = kept | bit(n)
		fi;
		ack_due = true
	fi
}

/* collector/combo/runs.c: runs_ack, all_settled */
inline take_ack(a)
{
	ack_due = false;
	if
#ifdef FAULT_FINAL_EARLY
	:: final_heard ->
#else
	:: final_heard && accounted >= COMBOS && next >= COMBOS && buffer == 0 && settled >= next ->
#endif
		final_confirmed = true
	:: else
	fi;
	a.used = true;
	a.final = final_confirmed;
	a.kept = kept;
	a.taken = next;
	a.settled = settled;
	a.held = 0;
	c = next + 1;
	do
	:: c < COMBOS ->
		if
		:: have[c] == WHOLE(c) -> a.held = a.held | bit(c)
		:: else
		fi;
		c++
	:: else -> break
	od;
	a.highest = highest;
	i = 0;
	c = 0
}

active proctype collector()
{
end_collector:
	do
	/* Any number under way may arrive next. */
	:: net ->
		atomic {
			n = 1;
			do
			:: net & bit(n) -> break
			:: n < NUMBERS && net > bit(n + 1) - 1 -> n++
			od;
			if
			:: d_step { net = net & ~bit(n); open_datagram(n, true) }
			:: d_step { refusals && is_piece(n) && !(received & bit(n)) &&
				    have[combo_of(n)] == 0 ->
				refusals--; net = net & ~bit(n); open_datagram(n, false) }
			:: d_step { repeats -> repeats--; open_datagram(n, true) }
			:: d_step { losses -> losses--; net = net & ~bit(n) }
			fi;
			n = 0; c = 0
		}
	/* collector/combo/reassemble_pool.c: evict_ahead: another sensor needs the space */
	:: d_step { evictions && next + 1 < COMBOS && have[next + 1] ->
		evictions--;
		have[next + 1] = 0 }
	/* collector/output/output_flush.c: output_flush, settle_pending */
	:: d_step { buffer ->
		assert((written & buffer) == 0);
		written = written | buffer;
		buffer = 0;
		settled = next;
		ack_due = true }
#ifdef FAULT_SETTLE_BEFORE_WRITE
	:: d_step { buffer && settled < next -> settled = next; ack_due = true }
#endif
	/* collector/network/session_send.c: session_send_ack */
	:: d_step { ack_due && !ack[0].used -> take_ack(ack[0]) }
	:: d_step { ack_due && overtakes && ack[0].used && !ack[1].used ->
		overtakes--; take_ack(ack[1]) }
	:: d_step { ack[0].used && losses -> losses--; forget(ack[0]) }
	od
}
