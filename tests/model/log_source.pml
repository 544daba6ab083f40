/* SPDX-License-Identifier: GPL-2.0 */
/* The readers of log.pml: saluki-kafka get, and a collector with --source. */

/* ---- saluki-kafka get: places in the log ----------------------------------------------------- */

byte pos;	/* the next one that the collector takes */
byte due;	/* those below it may get DONE */
byte done;	/* those below it have DONE */
byte committed; /* at the brokers */

/* ---- two machines with a collector and get. One has the partition ---------------------------- */

typedef reader_t {
	byte file, buffer;
	byte of_run;
	byte names[2];	     /* of each run: the next combo, in the run's numbers */
	byte gaps;	     /* combos that may come late */
	byte missing, early; /* the ledger */
}
reader_t reader[2];
byte r; /* has the partition */

#define me reader[r]
#define other reader[1 - r]

/* ---- what is true ---------------------------------------------------------------------------- */

byte counted_before; /* by collectors that were killed, perhaps too early */
byte twice;	     /* combos that may be in both files */
bool forgetful;	     /* a collector was killed, or the partition moved */

#define number_of(c) (c - run_first(run_of(c)))

/* collector/output/output_flush.c: output_flush, settle_pending; collector/source/done.c: is_due */
inline flush()
{
	assert((me.file & me.buffer) == 0);
	me.file = me.file | me.buffer;
	me.buffer = 0;
	due = pos
}

/* collector/source/take.c: take_late; collector/output/late.c: late_fill */
inline take_late()
{
	me.buffer = me.buffer | bit(c);
	assert((me.missing | me.early) & bit(c));
#ifndef FAULT_LATE_STAYS_LOST
	me.missing = me.missing & ~bit(c);
	me.early = me.early & ~bit(c);
#endif
	me.gaps = me.gaps & ~bit(c)
}

/* collector/source/take.c: take_next; collector/source/run.c: run_first; collector/output/late.c:
 * late_add; collector/model/ledger.c: ledger_combo */
inline take_next()
{
	assert(!((me.missing | me.early | me.file) & bit(c)));
	me.gaps = me.gaps | from_to(run_first(run_of(c)) + me.names[run_of(c)], c);
	if
	:: me.names[run_of(c)] == 0 -> me.early = me.early | from_to(run_first(run_of(c)), c)
	:: else -> me.missing = me.missing | from_to(run_first(run_of(c)) + me.names[run_of(c)], c)
	fi;
	me.names[run_of(c)] = number_of(c) + 1;
	me.buffer = me.buffer | bit(c)
}

/* collector/source/take.c: take_combo, take_message; collector/source/run.c: run_find, run_switch;
 * collector/source/done.c: done_add */
inline take()
{
	c = log[pos];
	if
	:: me.of_run != run_of(c) && me.buffer -> flush()
	:: else
	fi;
	pos++;
	if
#ifndef FAULT_NO_LATE
	:: number_of(c) < me.names[run_of(c)] && me.gaps & bit(c) -> me.of_run = run_of(c); take_late()
	:: number_of(c) < me.names[run_of(c)] && !(me.gaps & bit(c)) -> skip
#else
	:: number_of(c) < me.names[run_of(c)] -> skip
#endif
	:: number_of(c) >= me.names[run_of(c)] -> me.of_run = run_of(c); take_next()
	fi;
	assert((me.file & me.buffer) == 0);
#ifdef FAULT_DONE_BEFORE_WRITE
	due = pos;
#endif
#ifdef FAULT_COMMIT_BEFORE_DONE
	committed = pos;
#endif
	due = (me.buffer == 0 -> pos : due);
	c = 0
}

/* collector/output/recover.c: recover_begin; collector/output/written.c: written_scan: the last
 * combo of each run that is in the files */
inline read_names()
{
	me.names[0] = 0;
	me.names[1] = 0;
	c = 0;
	do
	:: c < COMBOS ->
#ifndef FAULT_FORGET_NAMES
		me.names[run_of(c)] = (me.file & bit(c) -> number_of(c) + 1 : me.names[run_of(c)]);
#endif
		c++
	:: else -> break
	od;
	c = 0
}

/* The next process counts frames behind the last name again. It finds the gaps before this name in
 * the state and in the files: collector/output/state.c: gap_take; collector/output/written.c:
 * scan_gap, written_gaps. Their frames are `earlier` then. */
inline begin_again()
{
	read_names();
	counted_before = counted_before | me.missing | me.early;
	me.buffer = 0; me.gaps = 0; me.missing = 0; me.early = 0;
	do
	:: c < COMBOS ->
		if
#ifndef FAULT_FORGET_GAPS
		:: number_of(c) < me.names[run_of(c)] && !(me.file & bit(c)) ->
			me.gaps = me.gaps | bit(c);
			me.early = me.early | bit(c)
#endif
		:: else
		fi;
		c++
	:: else -> break
	od;
	c = 0;
	me.of_run = NONE;
	forgetful = true
}

/* kafka/get/get.c: exchange, leave; kafka/get/offsets.c: offsets_rewind; collector/source/source.c:
 * disconnect; collector/source/done.c: done_forget */
inline connect_get(from)
{
	done = from;
	pos = from;
	due = from
}

/* kafka/get/consume.c: revoke, assign; kafka/get/get.c: settle; kafka/get/offsets.c: offsets_assign,
 * offsets_revoke. The one that loses the partition still has its buffer, and its memory. */
inline hand_over()
{
	handovers--;
	c = committed;
	do
	:: c < length -> twice = twice | bit(log[c]); c++
	:: else -> break
	od;
	c = 0;
	r = 1 - r;
	connect_get(committed);
	forgetful = true
}

#define in_a_file (me.file | other.file)
#define counted_here (me.missing | me.early | other.missing | other.early | counted_before)
active proctype source()
{
	reading;
	do
	:: d_step { pos < length -> take() }
	:: d_step { me.buffer -> flush() }
	/* collector/source/done.c: done_send; kafka/get/get.c: take_number; kafka/get/offsets.c:
	 * offsets_done */
	:: d_step { done < due ->
		c = 0;
		do
		:: c < due ->
			assert(bit(log[c]) & in_a_file);
			c++
		:: else -> break
		od;
		c = 0;
		done = due }
	/* kafka/get/consume.c: consume_commit, to_commit, on_commit */
	:: d_step { committed < done -> committed = done }
	/* SIGKILL of the collector */
	:: d_step { source_kills -> source_kills--; begin_again(); connect_get(done) }
	/* SIGKILL of get; the loss of its connection */
	:: d_step { get_kills -> get_kills--; connect_get(committed) }
	:: d_step { get_kills -> get_kills--; connect_get(done) }
	:: d_step { handovers -> hand_over() }
	:: d_step { other.buffer ->
		assert((other.file & other.buffer) == 0);
		other.file = other.file | other.buffer;
		other.buffer = 0 }
	:: pos == length && committed == length && !(me.buffer | other.buffer) -> break
	od;
	assert(me.buffer == 0);
	d_step {
		/* Each combo of the log is in a file, and in both only if its offset was not
		 * committed. */
		assert((in_log & ~in_a_file) == 0);
		assert((me.file & other.file & ~twice) == 0);
		/* The ledgers: a frame is in the file or counted, and none is counted without a
		 * reason. Known limit: a reader also counts what the other one has. */
		assert((me.file & (me.missing | me.early)) == 0);
		assert((other.file & (other.missing | other.early)) == 0);
		c = 0;
		do
		:: c < COMBOS ->
			assert((in_a_file | counted_here) & bit(c) ||
			       number_of(c) >= me.names[run_of(c)]);
			c++
		:: else -> break
		od;
		assert((counted_here & ~(in_a_file | NEVER | given_up | lost)) == 0);
		assert(forgetful || !(counted_here & in_a_file));
		finished = true
	}
}
