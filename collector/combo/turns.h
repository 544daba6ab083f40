/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns: whose combo is taken next, and when. In: sensors with a whole combo in reassembly
 * (gaps.h). Out: turns. Receiving is cheap and is done at once; to decompress, check and
 * write a combo is not, and a few hundred bytes can be a millisecond's work. So sensors take turns
 * (deficit round robin, Shreedhar and Varghese, SIGCOMM 1995, in time in place of bytes): each turn
 * is TURNS_QUANTUM_NS, and what a combo takes longer than that is taken off the sensor's next
 * turns. A sensor with a combo to take therefore waits for one turn of each other sensor at most,
 * whatever they send.
 *
 * A sensor whose combos must wait for the disk (output_holds) is held: it has no turn until there
 * is room.
 */
#ifndef COLLECTOR_COMBO_TURNS_H
#define COLLECTOR_COMBO_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define TURNS_QUANTUM_NS 250000LL
#define TURNS_DEBT_NS                                                                              \
	(8 * TURNS_QUANTUM_NS)	  /* at most: its turn may have had to wait for the disk */
#define TURNS_ROUND_NS 2000000ULL /* then datagrams are received again */
#define TURNS_HELD_MS 500	  /* who is held is looked at again */
#define TURNS_TELL_NS 60000000000ULL
#define TURNS_HURRY_NS 20000000ULL /* once a second: 64 ordinary combos take less */

struct combos;
struct sensor;

/* Something has come, or will not: the sensor has a turn where it has a combo to take. */
void turns_ready(struct combos *c, struct sensor *s);
/* It has a run to begin, which must wait until its last combos are written. */
void turns_wait(struct combos *c, struct sensor *s, uint64_t now_ns);
/* Gives turns until all are done or TURNS_ROUND_NS have passed. Returns whether there is more. */
bool turns_serve(struct combos *c, uint64_t now_ns);
/* Takes one combo of a sensor before its turn, which is then shorter. Returns whether one was
 * taken: a sensor may be ahead of its turns by TURNS_DEBT_NS. */
bool turns_early(struct combos *c, struct sensor *s, uint64_t now_ns);
/* Takes all that need not wait for the disk: it is the end. */
void turns_all(struct combos *c, uint64_t now_ns);
/* Takes a sensor's combos out of turn, since nothing else is kept of it until they are taken. After
 * TURNS_HURRY_NS, and in a second in which it did that before, the others wait for their turns. */
void turns_hurry(struct combos *c, struct sensor *s, uint64_t now_ns);
/* Looks whether there is room for those that are held. Returns milliseconds until it is to be
 * called again, -1: whenever. */
int turns_tick(struct combos *c, uint64_t now_ns);
/* For how long the sensor was held so far. */
uint64_t turns_held_ns(const struct sensor *s, uint64_t now_ns);

#endif
