/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Delivery: one session between a sensor and a collector, over a network that loses, repeats and
 * reorders. README.md lists the parts left out, and says why the bounds suffice.
 *
 * A combo is one frame. Combo 1 is split into two pieces, the others fit into one. Sets are bit
 * masks: bit c for combo c, bit n for datagram n. `carries[n]` is the content of datagram n, so the
 * network is only a set of numbers.
 */
#define COMBOS 3
#define AHEAD 2 /* PIECE_COMBOS_AHEAD */
#define STORE 2 /* combos that fit into the sensor's store */
#define WHOLE(c) (c == 1 -> 3 : 1) /* its pieces: two for combo 1, otherwise one */
#define NUMBERS 19

#define PIECE(c, p) (1 + 2 * (c) + (p))
#define FLOOR(c) (16 + (c))
#define TOTALS 32
#define FINAL 33
#define bit(n) (1 << (n))

/* The budget of faults: test_model.py runs the model with several. */
#ifndef LOSSES
#define LOSSES 2
#endif
#ifndef REORDER
#define REORDER 0 /* repetitions, and premature judgements */
#endif
#ifndef ROOM
#define ROOM 0 /* the collector's pool is full */
#endif
#ifndef GIVE_UP
#define GIVE_UP 0 /* the sensor's store is full */
#endif
byte losses = LOSSES, repeats = REORDER, hasty = REORDER, overtakes = 1 - GIVE_UP;
byte refusals = ROOM, evictions = ROOM, gives_up = GIVE_UP;

/* ---- network --------------------------------------------------------------------------------- */

int net;	 /* numbers under way to the collector */
byte carries[NUMBERS + 1]; /* PIECE, with the combo's epoch in bits 6 and 7; FLOOR; TOTALS; FINAL */
typedef ack_t {
	bool used, final;
	byte highest, taken, settled, held;
	int kept;
}
ack_t ack[2]; /* under way back; either may come first */

/* ---- sensor ---------------------------------------------------------------------------------- */

byte next_number = 1, heard; /* flight: next, highest */
int under_way, lost;	     /* numbers */
byte lowest, end;	     /* store */
byte pending[COMBOS], acked[COMBOS], epoch[COMBOS];
byte s_taken, s_held, s_settled, final_number, given_up;
bool floor_due, done, finished;

/* ---- collector ------------------------------------------------------------------------------- */

int received, kept; /* numbers */
byte highest;
byte have[COMBOS];
byte next, floor, settled, buffer, accounted, lost_missing;
byte written, missing; /* combos: in the file, counted as missing */
bool ack_due, final_heard, final_confirmed;

byte i, c, n; /* of one step */

inline forget(a)
{
	a.used = false;
	a.final = false;
	a.highest = 0;
	a.taken = 0;
	a.settled = 0;
	a.held = 0;
	a.kept = 0
}

inline send(what)
{
	assert(next_number <= NUMBERS); /* the model's bound, not the code's */
	carries[next_number] = what;
	net = net | bit(next_number);
	under_way = under_way | bit(next_number);
	next_number++
}

#include "delivery_sensor.pml"
#include "delivery_collector.pml"

ltl ends { <> finished }
