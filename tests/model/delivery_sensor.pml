/* SPDX-License-Identifier: GPL-2.0 */
/* The sensor of delivery.pml. A turn of its export thread is one step: it receives, and sends all
 * it may. */

/* agent/export/ledger.c: export_tell; agent/export/deliver_send.c: deliver_floor */
inline tell()
{
	if
	:: end == COMBOS ->
		final_number = (final_number == 0 -> next_number : final_number);
		send(FINAL)
	:: else -> send(TOTALS)
	fi;
	if
	:: floor_due -> send(FLOOR(lowest))
	:: else
	fi
}

#define content(n) (carries[n] & 63)
#define is_piece(n) (content(n) >= 1 && content(n) < 16)
#define combo_of(n) ((content(n) - 1) / 2)
#define piece_of(n) ((content(n) - 1) % 2)
#define live(n) (is_piece(n) && combo_of(n) >= lowest && combo_of(n) < end && \
		 epoch[combo_of(n)] == carries[n] >> 6 && !(acked[combo_of(n)] >> piece_of(n) & 1))

/* agent/export/deliver_receive.c: told */
inline told_lost(n)
{
	under_way = under_way & ~bit(n);
	lost = lost | bit(n);
	if
	:: live(n) -> pending[combo_of(n)] = pending[combo_of(n)] | bit(piece_of(n))
	:: else
	fi
}

inline told_acked(n)
{
	under_way = under_way & ~bit(n);
	lost = lost & ~bit(n);
	if
	:: live(n) ->
		acked[combo_of(n)] = acked[combo_of(n)] | bit(piece_of(n));
		pending[combo_of(n)] = pending[combo_of(n)] & ~bit(piece_of(n))
	:: else
	fi
}

/* agent/export/deliver.c: deliver_keep_from. A combo that the sensor forgets is in the file or
 * counted. */
inline keep_from(count)
{
	do
	:: lowest < count && lowest < end ->
		assert((written | missing) & bit(lowest));
		acked[lowest] = 0;
		pending[lowest] = 0;
		epoch[lowest] = 0;
		lowest++
	:: else -> break
	od
}

/* agent/export/in_flight.c: in_flight_ack, find_lost. A datagram in the network is not late, except
 * for a budget of premature judgements. */
inline flight_ack(a)
{
	heard = (a.highest > heard -> a.highest : heard);
	i = 1;
	do
	:: i <= a.highest ->
		if
		:: (under_way | lost) & a.kept & bit(i) -> told_acked(i)
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 1;
	do
	:: i < heard ->
		if
		:: under_way & bit(i) & ~(net | kept) -> told_lost(i)
		:: else
		fi;
		i++
	:: else -> break
	od
}

/* agent/export/deliver_receive.c: receive_held */
inline hear_held()
{
	c = lowest;
	do
	:: c < end ->
		if
		:: c > s_taken && s_held & bit(c) ->
			acked[c] = WHOLE(c);
			pending[c] = 0
		:: else
		fi;
		c++
	:: else -> break
	od
}

/* agent/export/deliver_receive.c: check. Time is not modelled: if no datagram of a combo is under
 * way any more, an acknowledged but missing one was not kept. */
inline check()
{
	c = s_taken;
	do
	:: c < end ->
		if
		:: c >= lowest && acked[c] == WHOLE(c) && !(c > s_taken && s_held & bit(c)) ->
#ifndef FAULT_NO_CHECK
			acked[c] = 0;
			pending[c] = WHOLE(c);
			epoch[c] = (epoch[c] + 1) % 4
#endif
		:: else
		fi;
		c++
	:: else -> break
	od
}

/* agent/export/deliver_receive.c: deliver_ack; collector/combo/runs.c: ack_present, ack_waiting */
inline hear_ack(a)
{
	flight_ack(a);
	if
	:: a.taken >= s_taken ->
		s_taken = a.taken;
		s_held = a.held;
		hear_held()
	:: else
	fi;
	if
	:: a.settled > s_settled ->
		s_settled = a.settled;
		keep_from(s_settled)
	:: else
	fi;
	floor_due = (a.settled >= lowest -> false : floor_due);
	done = (final_number && a.highest >= final_number && a.final -> true : done);
	if
	:: net == 0 -> check()
	:: else
	fi;
	forget(a)
}

#define next_piece(c) (pending[c] & 1 -> 0 : 1)
#define may_send(c) (c >= lowest && c >= s_taken && c < end && c < s_taken + AHEAD && pending[c])
#define quiet (net == 0 && !ack[0].used && !ack[1].used && !ack_due && \
	       (end == COMBOS || end - lowest == STORE) && buffer == 0)

/* agent/export/deliver_send.c: deliver_send, send_again, send_new, seal_piece: sends all it may,
 * the lowest first. The network delays datagrams without limit. */
inline deliver_send()
{
	c = lowest;
	do
	:: c < end && may_send(c) ->
		n = next_piece(c);
		pending[c] = pending[c] & ~bit(n);
		send(PIECE(c, n) | epoch[c] << 6)
	:: c < end && !may_send(c) -> c++
	:: else -> break
	od;
	c = 0;
	n = 0
}

active proctype sensor()
{
	do
	/* agent/export/deliver.c: deliver_put. After the last one the queue is finished. */
	:: d_step { !done && end < COMBOS && end - lowest < STORE ->
		pending[end] = WHOLE(end);
		end++;
		deliver_send();
		if
		:: end == COMBOS -> tell()
		:: else
		fi }
	/* agent/export/export.c: export_make_room; agent/export/deliver.c: deliver_drop_oldest;
	 * agent/export/deliver_send.c: hurry_floor */
	:: d_step { !done && gives_up && lowest < end && end - lowest == STORE ->
		gives_up--;
		given_up = given_up | bit(lowest);
		acked[lowest] = 0;
		pending[lowest] = 0;
		epoch[lowest] = 0;
		lowest++;
		floor_due = true;
		final_number = 0;
		if
		:: lowest > s_taken -> send(FLOOR(lowest))
		:: else
		fi;
		deliver_send();
		i = 0 }
	:: d_step { !done && ack[0].used -> hear_ack(ack[0]); deliver_send(); i = 0 }
	:: d_step { !done && ack[1].used -> hear_ack(ack[1]); deliver_send(); i = 0 }
	/* agent/export/in_flight.c: find_lost: for a datagram that was only overtaken */
	:: d_step { !done && hasty && under_way & net & (bit(heard) - 1) ->
		hasty--;
		i = 1;
		do
		:: under_way & net & bit(i) -> break
		:: else -> i++
		od;
		told_lost(i);
		deliver_send();
		i = 0 }
	/* agent/export/in_flight.c: in_flight_expire, in_flight_lose_all; agent/export/deliver.c:
	 * deliver_ask. No datagram has come for long. */
	:: d_step { !done && quiet ->
		i = 1;
		do
		:: i < next_number ->
			if
			:: under_way & bit(i) -> told_lost(i)
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0;
		deliver_send();
		tell();
		i = 0 }
	:: done -> break
	od;
	assert(done);
	/* Undelivered combos were given up; no others are missing. The ledger balances. */
	d_step {
		assert(!(written & missing));
		assert((written | missing) == bit(COMBOS) - 1);
		assert((missing & ~given_up) == 0);
		assert(buffer == 0 && accounted == COMBOS);
		assert(lost_missing == (missing & 1) + (missing >> 1 & 1) + (missing >> 2 & 1));
		finished = true
	}
}
