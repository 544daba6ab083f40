/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sensor: frames go from the ring into combos, the store and the spool, and SIGKILL comes between
 * any two steps, to the agent and to the collector. The ring, its journal and the spool outlive the
 * agent; the next agent continues the run. README.md lists the parts left out, and says why the
 * bounds suffice.
 *
 * A frame is its number. Delivery is one step here (see delivery.pml), and so are the collector's
 * files (see collector.pml). The hook's programs stay attached.
 */
#define FRAMES 4
#define COMBOS 4 /* one frame each, at least */
#define STORE 2	 /* combos that fit into memory */
#define NONE 0
#define bit(n) (1 << (n))
#define span(first, frames) ((bit(frames) - 1) << (first))

/* The budget of faults. */
#ifndef SPOOL
#define SPOOL 0
#endif
byte agent_kills = 2, collector_kills = 1, losses = 1, gives_up = 1;

/* ---- state that outlives the agent ----------------------------------------------------------- */

byte captured, tail; /* the ring: frames from tail to before captured */
mtype = { IDLE, PENDING, RELEASE };
mtype state = IDLE; /* the journal: a combo of `frames`, up to ring position `ends` */
bool slot;
byte done_next[2], done_exported[2];
byte frames, ends;
byte in_file;			  /* combos in the spool's file */
byte spool_first[COMBOS], spool_frames[COMBOS];
byte old;			  /* of these, an earlier agent's */

/* ---- the agent's memory ---------------------------------------------------------------------- */

bool alive;
byte next, exported;	 /* counters */
byte open, read;	 /* the frames of the queue's first combo; the ring is read up to here */
bool compressed, kept, committed, released;
byte lowest, end, handed; /* store; combos below `handed` are in the spool's slots */
byte first[COMBOS], has[COMBOS];
byte sent;		 /* combos, in this session */
byte given_up;		 /* frames: dropped_store */
bool floor_due;

/* ---- the collector --------------------------------------------------------------------------- */

byte c_next, c_accounted, c_buffer; /* c_buffer: frames taken and not written yet */
byte c_settled;
byte c_earlier, c_unheard, c_missing; /* ledger: frames */
byte d_next, d_accounted;	      /* names in the files: they outlive a SIGKILL */
bool c_known;			      /* they had some of this run */
byte d_unheard, d_missing;	      /* counted for frames below d_accounted */
byte c_held, h_first[COMBOS], h_has[COMBOS];

/* ---- the model's own state ------------------------------------------------------------------- */

byte written;  /* frames in the files */
byte excused;  /* frames that may be lost: given up, or only in a killed agent's memory */
byte said;     /* frames counted as lost by collectors */
byte doubt;    /* `earlier`, of a run that the collector had not heard of, behind a killed agent:
		* docs/design.md, "What the ledger cannot know" */
bool agent_killed;
bool finished;
byte i, n, floor_first;

#define stowed(count) (in_file >> (count) & 1)
#define unsent ((bit(end) - 1) & ~(bit(lowest) - 1) & ~sent)
#define forwarding (old != 0)

#include "sensor_collector.pml"

/* ---- agent ----------------------------------------------------------------------------------- */

/* Combos that only this agent has are gone: exported, but neither settled nor in the spool. */
inline agent_ends()
{
	i = lowest;
	do
	:: i < end && i < done_next[slot] ->
		excused = (stowed(i) -> excused : excused | span(first[i], has[i]));
		i++
	:: else -> break
	od;
	i = 0;
	do
	:: i < COMBOS -> first[i] = 0; has[i] = 0; i++
	:: else -> break
	od;
	i = 0;
	alive = false;
	agent_killed = true;
	next = 0; exported = 0; open = 0; read = 0; lowest = 0; end = 0; handed = 0; sent = 0;
	compressed = false; kept = false; committed = false; released = false;
	given_up = 0
}

/* agent/export/resume.c: resume, resume_pending, resume_frames, resume_end;
 * agent/export/spool_begin.c: find_old */
inline resume()
{
	alive = true;
	if
	:: state == RELEASE -> tail = ends; state = IDLE
	:: else
	fi;
	next = done_next[slot];
	exported = done_exported[slot];
	read = tail;
#ifndef FAULT_NO_PENDING
	if
	:: state == PENDING ->
		open = frames;
		read = tail + frames
	:: else
	fi;
#endif
	lowest = next;
	end = next;
	handed = next;
	old = in_file;
	floor_due = true
}

/* agent/export/deliver.c: deliver_keep_from */
inline settle_to(count)
{
	do
	:: lowest < count && lowest < end ->
		in_file = in_file & (~bit(lowest) | old);
		sent = sent & ~bit(lowest);
		first[lowest] = 0;
		has[lowest] = 0;
		lowest++
	:: else -> break
	od;
	handed = (handed < lowest -> lowest : handed)
}

active proctype everything()
{
	do
	/* bpf/ring.h: ring_put. The hook continues whatever happens to the agent. */
	:: d_step { captured < FRAMES -> captured++ }
	:: d_step { !alive -> resume() }
	/* agent/capture/capture.c: capture_frame. A combo is closed whenever it likes. */
	:: d_step { alive && !open && read < captured -> open = 1; read++ }
	:: d_step { alive && open == 1 && !compressed && state != PENDING && read < captured ->
		open++; read++ }
	/* agent/export/export.c: export_compress, export_begin; agent/rings/journal.c:
	 * journal_begin */
	:: d_step { alive && open && !compressed ->
		frames = open;
		ends = tail + open;
		state = PENDING;
		compressed = true }
#ifdef FAULT_RELEASE_BEFORE_STORE
	:: d_step { alive && compressed && !kept && !committed ->
		done_next[1 - slot] = next + 1;
		done_exported[1 - slot] = exported + open;
		slot = 1 - slot;
		tail = ends;
		state = IDLE;
		committed = true }
#endif
	/* agent/export/export.c: export_keep; agent/export/spool.c: spool_keep */
	:: d_step { alive && compressed && !kept && end - lowest < STORE ->
		first[end] = exported;
		has[end] = open;
		end++;
		kept = true }
	/* agent/export/export.c: export_make_room; agent/export/deliver.c: deliver_drop_oldest */
	:: d_step { alive && gives_up && compressed && !kept && end - lowest == STORE ->
		gives_up--;
		given_up = given_up + has[lowest];
		excused = excused | span(first[lowest], has[lowest]);
		n = lowest + 1;
		settle_to(n);
		n = 0;
		floor_due = true }
	/* agent/export/spool.c: hand_over; agent/export/spool_thread.c: write_next */
	:: d_step { SPOOL && alive && handed < end ->
		in_file = in_file | bit(handed);
		spool_first[handed] = first[handed];
		spool_frames[handed] = has[handed];
		handed++ }
	/* agent/export/deliver_send.c: deliver_send; or the datagram is lost. An earlier agent's
	 * spooled combos go first. */
	:: d_step { alive && !forwarding && !floor_due && unsent ->
		n = lowest;
		do
		:: sent & bit(n) -> n++
		:: else -> break
		od;
		sent = sent | bit(n);
		receive(n, first[n], has[n]);
		n = 0 }
	:: d_step { alive && losses && !forwarding && !floor_due && unsent ->
		n = lowest;
		do
		:: sent & bit(n) -> n++
		:: else -> break
		od;
		losses--;
		sent = sent | bit(n);
		n = 0 }
	/* agent/export/in_flight.c: find_lost; agent/export/deliver_send.c: send_again */
	:: d_step { alive && !forwarding && lowest < end && sent & bit(lowest) && c_next <= lowest &&
		    !(c_held & bit(lowest)) ->
		receive(lowest, first[lowest], has[lowest]) }
	/* agent/export/deliver_send.c: deliver_floor, hurry_floor */
	:: d_step { alive && !forwarding && floor_due ->
		floor_due = false;
		floor_first = (lowest < end -> first[lowest] : exported + (committed -> open : 0));
		take_floor(lowest);
		floor_first = 0 }
	/* agent/export/forward.c: forward_turn, take_combo; collector/combo/intake.c: intake_session: what is
	 * not whole is forgotten where another session's combos come */
	:: d_step { alive && old & ~(bit(c_next) - 1) ->
		n = c_next;
		do
		:: old & bit(n) -> break
		:: else -> n++
		od;
		c_held = 0;
		floor_first = spool_first[n];
		take_floor(n);
		receive(n, spool_first[n], spool_frames[n]);
		floor_first = 0;
		n = 0 }
	/* agent/export/forward.c: group_end; agent/export/spool_log.c: spool_free_settled: not
	 * before they are settled */
#ifdef FAULT_ERASE_TAKEN
	:: d_step { alive && old & (bit(c_next) - 1) ->
		in_file = in_file & ~(old & (bit(c_next) - 1));
		old = old & ~(bit(c_next) - 1) }
#endif
	:: d_step { alive && old & (bit(c_settled) - 1) ->
		in_file = in_file & ~(old & (bit(c_settled) - 1));
		old = old & ~(bit(c_settled) - 1) }
	/* agent/export/export.c: export_commit, export_committed; agent/rings/journal.c:
	 * journal_commit. Also unsent, where the ring runs short. */
	:: d_step { alive && kept && !committed ->
		done_next[1 - slot] = next + 1;
		done_exported[1 - slot] = exported + open;
		slot = 1 - slot;
		state = RELEASE;
		committed = true }
	/* agent/export/export.c: export_done; agent/source/source_ring.c: bpf_source_release */
	:: d_step { alive && committed && kept && !released ->
		tail = ends;
		released = true }
	/* agent/rings/journal.c: journal_settle */
	:: d_step { alive && released ->
		state = IDLE;
		next++;
		exported = exported + open;
		open = 0;
		compressed = false; kept = false; committed = false; released = false }
	/* agent/export/deliver_receive.c: deliver_ack */
#ifdef FAULT_TAKEN_IS_SETTLED
	:: d_step { alive && !forwarding && c_next > lowest && lowest < end -> settle_to(c_next) }
#else
	:: d_step { alive && !forwarding && c_settled > lowest && lowest < end -> settle_to(c_settled) }
#endif
	/* collector/output/output_flush.c: output_flush, settle_pending */
	:: d_step { c_buffer ->
		written = written | c_buffer;
		c_buffer = 0;
		d_next = c_next;
		d_accounted = c_accounted;
		d_unheard = c_unheard;
		d_missing = c_missing;
		c_settled = c_next }
	/* SIGKILL. */
	:: d_step { alive && agent_kills -> agent_kills--; agent_ends() }
	:: d_step { collector_kills -> collector_kills--; collector_is_killed(); collector_begins() }
	:: alive && captured == FRAMES && tail == FRAMES && !open && lowest == end && !in_file &&
	   c_buffer == 0 && !floor_due && c_next == next -> break
	od;
	assert(alive);
	d_step {
		collector_ends();
		n = 0;
		i = 0;
		do
		:: i < FRAMES ->
			/* A lost frame had a reason, and is counted. */
			assert(written & bit(i) || excused & bit(i));
			n = n + (written & bit(i) -> 0 : 1);
			i++
		:: else -> break
		od;
		assert(n == said + doubt);
		assert(agent_killed || doubt == 0);
		assert(c_accounted == FRAMES);
		finished = true
	}
}

ltl ends { <> finished }
