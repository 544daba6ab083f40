/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns: schedules the sensors whose combos are taken. In: sensors with a complete combo in
 * reassembly (gaps.h). Out: turns. Reception is cheap and immediate. To decompress, check and write
 * a combo is expensive: a few hundred bytes can take a millisecond. So sensors take turns: deficit
 * round robin (Shreedhar and Varghese, SIGCOMM 1995), with time instead of bytes. A turn lasts
 * TURNS_QUANTUM_NS. The time beyond that is subtracted from the sensor's next turns. So a sensor
 * with a complete combo waits for at most one turn of each other sensor, whatever these send.
 *
 * A sensor whose combos must wait for the disk (output_holds) is held: it gets no turn until there
 * is room.
 */
#ifndef COLLECTOR_COMBO_TURNS_H
#define COLLECTOR_COMBO_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define TURNS_QUANTUM_NS 250000LL
#define TURNS_DEBT_NS (8 * TURNS_QUANTUM_NS) /* limit of debt: a turn may wait for the disk */
#define TURNS_ROUND_NS 2000000ULL	     /* after this, datagrams are received again */
#define TURNS_HELD_MS 500		     /* interval of checks of held sensors */
#define TURNS_SINK_MS 20		     /* the same with a sink, which frees room soon */
#define TURNS_LOG_NS 60000000000ULL
#define TURNS_HURRY_NS 20000000ULL /* once per second; 64 ordinary combos take less */

struct combos;
struct sensor;

/* Call it after data arrived or was given up. Queues the sensor if its next combo is complete. */
void turns_ready(struct combos *c, struct sensor *s);
/* Holds a sensor whose next run must wait until its last combos are written. */
void turns_wait(struct combos *c, struct sensor *s, uint64_t now_ns);
/* Gives turns until the queue is empty or TURNS_ROUND_NS have passed. Returns whether the queue has
 * more. */
bool turns_serve(struct combos *c, uint64_t now_ns);
/* Takes one combo of a sensor before its turn, which becomes shorter. Returns whether one was
 * taken. A sensor can use up to TURNS_DEBT_NS in advance. */
bool turns_early(struct combos *c, struct sensor *s, uint64_t now_ns);
/* Takes all combos that need not wait for the disk, at the end. */
void turns_all(struct combos *c, uint64_t now_ns);
/* Releases all held sensors. */
void turns_release(struct combos *c, uint64_t now_ns);
/* Takes a sensor's combos out of turn, as nothing new of it is kept until they are taken. Stops
 * after TURNS_HURRY_NS, and works once per second; the other combos wait for their turns. */
void turns_hurry(struct combos *c, struct sensor *s, uint64_t now_ns);
/* Releases held sensors if there is room. Returns milliseconds until the next call, -1: not
 * needed. */
int turns_tick(struct combos *c, uint64_t now_ns);
/* Returns the total time in ns for which the sensor was held. */
uint64_t turns_held_ns(const struct sensor *s, uint64_t now_ns);
/* Whether the sensor's frames wait for the disk, in reassembly or in the output's buffer. */
bool turns_holds(const struct combos *c, const struct sensor *s);

#endif
