/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collector: combos become blocks in a file, and SIGKILL comes between any two steps, also between
 * two blocks of one write. A sensor sends each combo until it learns that it is settled. README.md
 * lists the parts left out, and says why the bounds suffice.
 *
 * A combo is two blocks, of one frame each; the first has its name. In a series of files, each
 * start and each rotation begins another one.
 */
#define COMBOS 4
#define FILES 5
#define BLOCKS 8 /* per file */
#define bit(n) (1 << (n))
#define BLOCK(c, part) (1 + 2 * (c) + (part))
#define combo_of(b) ((b - 1) / 2)
#define is_first(b) (b % 2)

/* The budget of faults. Each kill, rotation or start takes a file. */
byte kills = 3, rotations = 1, write_errors = 1, states_lost = 1;

/* ---- on disk: outlives a SIGKILL ------------------------------------------------------------- */

byte files = 0; /* number of files; the last one is written to */
typedef file_t {
	byte used;
	byte block[BLOCKS];
}
file_t file[FILES];
byte state_file, state_offset, state_next; /* the state file, replaced by rename */
bool state_there;

/* ---- the collector's memory ------------------------------------------------------------------ */

bool alive;
byte next;	   /* the combo that is due: ACK's `taken` */
byte first, done;  /* the buffer has combos from `first` to `next`; the number of blocks written */
byte size;	   /* of the present file: the end of the last successful write */
byte settled;	   /* ACK's `settled` */
byte names_next;   /* names: combos below it are in a file, or lost */

/* ---- the sensor, and the model's own state --------------------------------------------------- */

byte lowest;	    /* the sensor has the unsettled ones */
byte counted;	    /* combos counted as lost by any collector */
bool finished;
byte i, f, b, n; /* of one step */

#define in_buffer (next - first)

/* collector/output/written.c: written_scan, scan_block. Goes through blocks of file f from block i
 * on; `i` is then the file's length in whole combos. */
inline names_scan()
{
	do
	:: i + 1 < file[f].used ->
		b = file[f].block[i];
		assert(is_first(b) && file[f].block[i + 1] == b + 1);
		names_next = (combo_of(b) + 1 > names_next -> combo_of(b) + 1 : names_next);
		i = i + 2
	:: else -> break
	od
}

/* collector/output/recover.c: recover_begin, recover_series, recover_file, scan; collector/output/state.c:
 * state_read */
inline recover()
{
	names_next = (state_there -> state_next : 0);
	f = (state_there -> state_file : 0);
	do
	:: f < files ->
		i = (state_there && f == state_file -> state_offset : 0);
		names_scan();
#ifndef FAULT_NO_CUT
		n = i;
		do
		:: n < file[f].used -> file[f].block[n] = 0; n++
		:: else -> break
		od;
		file[f].used = i;
#endif
		f++
	:: else -> break
	od
}

/* collector/output/output_file.c: output_file_next */
inline output_file_next()
{
	assert(files < FILES);
	files++;
	size = 0
}

/* collector/output/recover.c: recover_save; collector/output/state.c: state_write */
inline recover_save()
{
	state_there = true;
	state_file = files - 1;
	state_offset = size;
#ifdef FAULT_STATE_AHEAD
	state_next = next
#else
	state_next = names_next
#endif
}

/* collector/output/output_flush.c: output_settle. What is settled is in a file or counted: else it is lost for good. */
inline settle()
{
	settled = next;
	names_next = (next > names_next -> next : names_next)
}

inline is_written(c)
{
	n = 0;
	f = 0;
	do
	:: f < files ->
		i = 0;
		do
		:: i < file[f].used ->
			if
			:: combo_of(file[f].block[i]) == c -> n++
			:: else
			fi;
			i++
		:: else -> break
		od;
		f++
	:: else -> break
	od
}

inline forget_memory()
{
	alive = false;
	next = 0; first = 0; done = 0; size = 0; settled = 0; names_next = 0
}

active proctype collector()
{
	do
	/* collector/output/output.c: output_init; collector/combo/runs.c: runs_switch */
	:: d_step { !alive ->
		alive = true;
		recover();
		next = names_next;
		first = next;
		settled = next;
		output_file_next();
		recover_save();
		f = 0; i = 0; b = 0; n = 0 }
	/* collector/network/messages.c: messages_floor; collector/combo/gaps.c: gaps_passed; collector/output/output.c: output_passed.
	 * The sensor has heard that it is settled, and has it no more. Not counted here: what was
	 * settled must be in a file, or counted before. */
	:: d_step { alive && lowest > next && in_buffer == 0 ->
		next = lowest;
		first = next;
		settle() }
	/* collector/output/output.c: output_combo, output_frame. The combo is taken. */
	:: d_step { alive && lowest <= next && next < COMBOS && done == 0 -> next++ }
	/* collector/output/output_file.c: output_file_write. Each block is a step, as a write may
	 * be incomplete. */
	:: d_step { alive && done < 2 * in_buffer ->
		file[files - 1].block[file[files - 1].used] = BLOCK(first + done / 2, done % 2);
		file[files - 1].used++;
		done++ }
	/* collector/output/output_flush.c: output_flush, settle_pending */
	:: d_step { alive && in_buffer && done == 2 * in_buffer ->
		size = file[files - 1].used;
		done = 0;
		first = next;
		settle() }
	/* The same, if the write failed for another reason than a full disk: it is undone. */
	:: d_step { alive && write_errors && in_buffer && done < 2 * in_buffer ->
		write_errors--;
#ifndef FAULT_NO_UNDO
		do
		:: file[files - 1].used > size ->
			file[files - 1].used--;
			file[files - 1].block[file[files - 1].used] = 0
		:: else -> break
		od;
#endif
		do
		:: first < next -> counted = counted | bit(first); first++
		:: else -> break
		od;
		done = 0;
		settle() }
#ifdef FAULT_SETTLE_BEFORE_WRITE
	:: d_step { alive && settled < next -> settled = next }
#endif
	/* collector/output/output.c: output_tick */
	:: d_step { alive && done == 0 &&
		    (state_next < names_next || state_offset < size || !state_there) ->
		recover_save() }
	/* collector/output/output_rotate.c: rotate, output_section_end. The buffer is empty then. */
	:: d_step { alive && rotations && in_buffer == 0 && size ->
		rotations--;
		output_file_next() }
	/* agent/export/deliver_receive.c: deliver_ack. Any time later, perhaps never in this
	 * process. */
	:: d_step { alive && settled > lowest ->
		lowest = settled }
	/* SIGKILL. */
	:: d_step { alive && kills -> kills--; forget_memory() }
	:: d_step { alive && kills && states_lost ->
		kills--;
		states_lost--;
		state_there = false; state_file = 0; state_offset = 0; state_next = 0;
		forget_memory() }
	:: alive && lowest == COMBOS -> break
	od;
	assert(alive);
	/* Each combo is in the files once, whole, or counted as lost. */
	d_step {
		b = 0;
		do
		:: b < COMBOS ->
			is_written(b);
			assert(n == 2 || (n == 0 && counted & bit(b)));
			b++
		:: else -> break
		od;
		finished = true
	}
}

/* At any time, combos that the sensor has forgotten are there. */
ltl ends { <> finished }
