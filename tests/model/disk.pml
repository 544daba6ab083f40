/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Disk: the collector's disk is full for a while. Combos then wait: whole ones in reassembly, taken
 * ones in the buffer, the others at the sensor, whose store may overflow meanwhile. The sensor may
 * be restarted with another run, the collector may be killed. A second sensor is one-way: it cannot
 * be told to wait. README.md lists the parts left out, and says why the bounds suffice.
 *
 * A combo is one frame and one block. Combos of run 0 are 0 and 1, run 1's is 2, the one-way
 * sensor's are 4 and 5. Sets are bit masks of combos.
 */
#define STORE 2
#define BUFFER 2 /* combos that fit into the collector's buffer */
#define ROOM 1	 /* blocks that fit on the disk at first */
#define NEEDED 5
#define bit(n) (1 << (n))
#define ONE_WAY (bit(4) | bit(5))
#define run_first(r) (r == 0 -> 0 : 2)
#define run_end(r) (r == 0 -> 2 : 3)
#define run_mask(r) (r == 0 -> 3 : 4)

/* The budget of faults: other programs' writes to the disk and later deletions, and kills. */
byte fills = 1, collector_kills = 1, restarts = 1, gives_up = 1;

/* ---- disk ------------------------------------------------------------------------------------ */

byte free = ROOM;
byte torn;    /* blocks of a failed write that were not removed */
byte written; /* combos */

/* ---- sensors --------------------------------------------------------------------------------- */

byte s_run, lowest, end;
bool floor_due;
byte one_way_next = 4;

/* ---- collector ------------------------------------------------------------------------------- */

byte c_run, next, floor, settled;
byte have;    /* combos that are whole in reassembly */
byte buffer;  /* taken, and not written yet */
bool hold, tried, waiting;
byte missing; /* counted: lost_missing */
byte lost;    /* counted: lost_disk */

byte gone;    /* combos that a sensor gave up: the collector counts those it lacks */
byte excused; /* combos that a kill may lose without a count */
bool finished;
byte c, n;

inline count_of(set)
{
	n = 0;
	c = 0;
	do
	:: c < 6 -> n = n + (set >> c & 1); c++
	:: else -> break
	od;
	c = 0
}

/* ---- collector ------------------------------------------------------------------------------- */

/* collector/output/output_flush.c: output_settle */
inline settle()
{
	settled = next
}

/* collector/output/output_flush.c: output_flush; collector/output/output_hold.c: hold_begin, hold_end;
 * collector/output/output_file.c: output_file_write. What was written of a buffer is cut off again. */
inline flush()
{
	count_of(buffer);
	if
	:: n + torn <= free ->
		assert((written & buffer) == 0 && torn == 0);
		written = written | buffer;
		free = free - n;
		buffer = 0;
		hold = false;
		tried = false;
		settle()
	:: else ->
#ifdef FAULT_NO_TRUNCATE
		torn = free;
#endif
#ifdef FAULT_SETTLE_ON_HOLD
		settle();
#endif
#ifdef FAULT_DROP_ON_HOLD
		buffer = 0;
#else
		hold = true;
#endif
		tried = true
	fi;
	n = 0
}

/* collector/combo/split.c: split_next; collector/combo/gaps.c: gap_reached, gaps_whole; collector/combo/reassemble.c: pass_over */
inline pass_over()
{
	do
	:: next < floor && !(have & bit(next)) ->
#ifndef FAULT_PASS_OVER_IN_SILENCE
		missing = missing | bit(next);
#endif
		next++
	:: else -> break
	od;
	if
	:: (buffer & run_mask(c_run)) == 0 -> settle()
	:: else
	fi
}

/* collector/combo/runs.c: next_take, runs_switch; collector/output/written.c: written_find */
inline run_begin()
{
	c_run = s_run;
	waiting = false;
	have = 0;
	floor = run_first(s_run);
	next = run_end(s_run);
	do
	:: next > run_first(s_run) && !(written & bit(next - 1)) -> next--
	:: else -> break
	od;
	settled = next
}

#define needs_flush (buffer & run_mask(c_run))

active proctype everything()
{
	do
	/* ---- the disk ---- */
	:: d_step { fills && free -> fills--; free = 0; tried = false }
	:: d_step { free < NEEDED && hold && tried -> free = NEEDED; tried = false }
	/* ---- the sensor: agent/export/deliver.c: deliver_put ---- */
	:: d_step { end < run_end(s_run) && end - lowest < STORE -> end++ }
	/* agent/export/export.c: export_make_room; agent/export/deliver.c: deliver_drop_oldest */
	:: d_step { gives_up && lowest < end ->
		gives_up--;
		gone = gone | bit(lowest);
		lowest++;
		floor_due = true }
	/* SIGKILL, and another run. Combos only in its memory are lost with it. */
	:: d_step { restarts && s_run == 0 && end == 2 ->
		restarts--;
		excused = excused | (run_mask(0) & ~(bit(lowest) - 1) & ~(have | buffer));
		s_run = 1;
		lowest = 2;
		end = 2;
		floor_due = false;
		/* collector/combo/intake.c: intake_session; collector/combo/runs.c: runs_must_wait; collector/combo/gaps.c: gaps_rest */
		floor = run_end(0);
		pass_over();
#ifdef FAULT_RUN_BEGINS_ON_HOLD
		run_begin() }
#else
		waiting = true }
#endif
	/* collector/combo/runs.c: runs_begin, runs_must_wait: nothing of the run before waits any more */
	:: d_step { waiting && !(have & bit(next)) && !needs_flush -> run_begin() }
	:: d_step { waiting && !(have & bit(next)) && needs_flush && !hold -> flush() }
	/* collector/network/messages.c: messages_take; collector/combo/intake.c: intake_piece; collector/combo/turns.c: turns_ready; while the run waits
	 * nothing is kept of it. agent/export/deliver_send.c: deliver_send */
	:: d_step { !waiting && end > lowest && lowest >= next && !(have & bit(lowest)) ->
		have = have | bit(lowest) }
	:: d_step { !waiting && end > lowest + 1 && lowest + 1 >= next && !(have & bit(lowest + 1)) ->
		have = have | bit(lowest + 1) }
	/* collector/network/messages.c: messages_floor; collector/combo/gaps.c: gaps_floor */
	:: d_step { !waiting && floor_due && lowest > floor ->
#ifdef FAULT_FLOOR_AT_ONCE
		do
		:: next < lowest -> missing = missing | bit(next); next++
		:: else -> break
		od;
#endif
		floor = lowest;
		pass_over();
		floor_due = false }
	/* collector/combo/split.c: split_next; collector/combo/split_combo.c: split_combo; collector/combo/turns.c: turns_serve;
	 * collector/output/output.c: output_reserve, output_combo. Held: it stays in its place. */
	:: d_step { next < run_end(c_run) && have & bit(next) && !hold ->
		count_of(buffer);
		if
		:: n == BUFFER -> flush()
		:: else
		fi;
		if
		:: !hold ->
			buffer = buffer | bit(next);
			have = have & ~bit(next);
			next++;
			pass_over()
		:: else
		fi;
		n = 0 }
	/* collector/output/output.c: output_tick: the buffer is old, or the write is tried again */
	:: d_step { buffer && (!hold || !tried) -> flush() }
	/* agent/export/deliver_receive.c: deliver_ack; collector/combo/runs.c: ack_present, ack_waiting */
	:: d_step { !waiting && settled > lowest && lowest < end ->
		do
		:: lowest < settled && lowest < end ->
			assert((written | missing) & bit(lowest));
			lowest++
		:: else -> break
		od;
		c = 0 }
	/* ---- one way: collector/combo/split_combo.c: split_combo, lose ---- */
	:: d_step { one_way_next < 6 && hold -> lost = lost | bit(one_way_next); one_way_next++ }
	:: d_step { one_way_next < 6 && !hold ->
		count_of(buffer);
		if
		:: n == BUFFER -> flush()
		:: else
		fi;
		if
		:: hold -> lost = lost | bit(one_way_next)
		:: else -> buffer = buffer | bit(one_way_next)
		fi;
		one_way_next++;
		n = 0 }
	/* SIGKILL of the collector. The files' names are in collector.pml. Of its combos, only a
	 * one-way sensor has no copy, and no sensor has those of an ended run. */
	:: d_step { collector_kills ->
		collector_kills--;
		excused = excused | (buffer & ONE_WAY);
		excused = excused | (c_run != s_run -> (buffer | have) & run_mask(0) : 0);
		buffer = 0;
		hold = false;
		tried = false;
		torn = 0;
		run_begin();
		floor_due = lowest > next }
	:: !waiting && c_run == s_run && end == run_end(s_run) && lowest == end && buffer == 0 &&
	   have == 0 && one_way_next == 6 && !floor_due -> break
	od;
	assert(buffer == 0);
	d_step {
		assert(!(written & (missing | lost)));
		/* Each is in the file, or counted, or lost with a kill. Giving up a combo is no
		 * excuse. */
		c = 0;
		do
		:: c < 6 ->
			assert(c == 3 || (c == 2 && s_run == 0) ||
			       (written | missing | lost | excused) & bit(c));
			c++
		:: else -> break
		od;
		/* Only combos that could not wait are lost to the disk, the others only if given
		 * up. */
		assert((lost & ~ONE_WAY) == 0);
		assert((missing & ~(excused | gone)) == 0);
		finished = true
	}
}

ltl ends { <> finished }
