/* SPDX-License-Identifier: GPL-2.0 */
/* The collector of sensor.pml: what it takes and counts, and its state after a kill. */

/* collector/model/ledger.c: ledger_combo, ledger_floor */
inline floor_gone()
{
	if
	:: floor_first <= c_accounted
#ifdef FAULT_KNOWN_IS_EARLIER
	:: floor_first > c_accounted && c_accounted == c_earlier + c_unheard ->
#else
	:: floor_first > c_accounted && !c_known && c_accounted == c_earlier + c_unheard ->
#endif
		c_unheard = c_unheard + floor_first - c_accounted;
		c_accounted = floor_first
	:: else ->
		c_missing = c_missing + floor_first - c_accounted;
		c_accounted = floor_first
	fi
}

/* collector/combo/split_combo.c: split_combo; collector/combo/reassemble.c: reassemble_take */
inline take_held()
{
	do
	:: c_next < COMBOS && c_held & bit(c_next) ->
		assert(h_first[c_next] >= c_accounted);
		c_missing = c_missing + h_first[c_next] - c_accounted;
#ifdef FAULT_COUNT_TOO_MUCH
		c_missing++;
#endif
		c_accounted = h_first[c_next] + h_has[c_next];
		assert(!((written | c_buffer) & span(h_first[c_next], h_has[c_next])));
		c_buffer = c_buffer | span(h_first[c_next], h_has[c_next]);
		c_held = c_held & ~bit(c_next);
		h_first[c_next] = 0;
		h_has[c_next] = 0;
		c_next++
	:: else -> break
	od
}

/* collector/combo/gaps.c: gaps_floor */
/* A FLOOR of combo `count`, with floor_first frames before it. */
inline take_floor(count)
{
	if
	:: count >= c_next ->
		do
		:: c_next < count ->
			take_held();
			if
			:: c_next < count -> c_next++
			:: else
			fi
		:: else -> break
		od;
		take_held();
		if
		:: c_next == count -> floor_gone()
		:: else
		fi;
		c_settled = (c_buffer == 0 -> c_next : c_settled)
	:: else
	fi
}

/* collector/combo/reassemble.c: reassemble_add */
inline receive(count, at, many)
{
	if
	:: count >= c_next && !(c_held & bit(count)) ->
		c_held = c_held | bit(count);
		h_first[count] = at;
		h_has[count] = many;
		take_held()
	:: else
	fi
}

/* collector/model/ledger.c: run_divide */
#define divided (given_up > c_missing -> \
		 (given_up - c_missing < c_unheard -> given_up - c_missing : c_unheard) : 0)

inline collector_ends()
{
	said = said + c_missing + divided;
	doubt = doubt + (agent_killed && !c_known -> c_unheard - divided : 0)
}

/* SIGKILL. The next collector counts frames after the last name in the files again: this one's
 * count of them is not repeated. */
inline collector_is_killed()
{
	c_missing = d_missing;
	c_unheard = d_unheard;
	collector_ends()
}

/* collector/combo/runs.c: runs_switch; collector/model/ledger.c: ledger_run_start */
inline collector_begins()
{
	c_next = d_next;
	c_settled = d_next;
	c_accounted = d_accounted;
	c_earlier = d_accounted;
	c_known = d_next > 0;
	c_unheard = 0; c_missing = 0; d_unheard = 0; d_missing = 0; c_buffer = 0; c_held = 0;
	i = 0;
	do
	:: i < COMBOS -> h_first[i] = 0; h_has[i] = 0; i++
	:: else -> break
	od;
	i = 0;
	sent = 0;
	floor_due = true
}
