/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log: a sensor's combos go through a collector with --sink and saluki-kafka put into a partition's
 * log, and through saluki-kafka get and a collector with --source into a file. README.md lists the
 * parts left out, and says why the bounds suffice.
 *
 * A combo is one frame. Combos of run 0 are below RUN_END, the others are of run 1. Sets are bit
 * masks of combos. Nothing goes from the readers back to the sensor. So what a reader does depends
 * only on the log, and all its steps come after the log's last one (`reading`). It may stop after
 * each message, as if the log had ended there.
 */

/* The budget of faults: test_model.py runs the model with several. */
#ifndef MOVES
#define MOVES 0 /* of the sensor, to the other collector */
#endif
#ifndef SINK_KILLS
#define SINK_KILLS 0 /* of a collector with --sink */
#endif
#ifndef PUT_KILLS
#define PUT_KILLS 0 /* or losses of its connection */
#endif
#ifndef ERRORS
#define ERRORS 0 /* of a single message, so that the producer is created again */
#endif
#ifndef GIVE_UP
#define GIVE_UP 0 /* the sensor's store is full */
#endif
#ifndef RESTARTS
#define RESTARTS 0 /* SIGKILL of the agent, and another run */
#endif
#ifndef SOURCE_KILLS
#define SOURCE_KILLS 0
#endif
#ifndef GET_KILLS
#define GET_KILLS 0 /* or losses of its connection */
#endif
#ifndef HANDOVERS
#define HANDOVERS 0 /* of the partition to the other reader */
#endif
/* REFUSED: the combo that the brokers never take. */

#ifdef REFUSED
#define NEVER bit(REFUSED)
#else
#define REFUSED NONE
#define NEVER 0
#endif
#define COMBOS 3
#define STORE 2
#define LOG 16
#define NONE 255
#define bit(n) (1 << (n))
#if RESTARTS
#define RUN_END 2
#else
#define RUN_END COMBOS
#endif
#define run_of(c) ((c) < RUN_END -> 0 : 1)
#define run_first(r) (r == 0 -> 0 : RUN_END)
#define run_end(r) (r == 0 -> RUN_END : COMBOS)
#define run_mask(r) (r == 0 -> bit(RUN_END) - 1 : (bit(COMBOS) - 1) & ~(bit(RUN_END) - 1))
#define from_to(a, b) ((bit(b) - 1) & ~(bit(a) - 1))
#define ones(m) (((m) & 1) + ((m) >> 1 & 1) + ((m) >> 2 & 1))
#define lowest_of(m) ((m) & 1 -> 0 : ((m) & 2 -> 1 : 2))

byte moves = MOVES, sink_kills = SINK_KILLS, put_kills = PUT_KILLS, errors = ERRORS;
byte gives_up = GIVE_UP, restarts = RESTARTS;
byte source_kills = SOURCE_KILLS, get_kills = GET_KILLS, handovers = HANDOVERS;

/* ---- the log, and what is true --------------------------------------------------------------- */

byte log[LOG];
byte length, in_log;
byte given_up; /* by the sensor */
byte lost;     /* each copy was in the memory of a killed process */
byte errored;  /* a later combo may be in the log before it */
byte said;     /* counted as refused by a collector, perhaps a killed one */
bool reading, finished;

byte c; /* of one step */

#include "log_sink.pml"
#include "log_source.pml"

init {
	run collector(0);
	run collector(1)
}

ltl ends { <> finished }
