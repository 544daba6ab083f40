/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ahead: a second thread, which unpacks combos before their turn. In: copies of the combos that
 * come next (ahead_plan.c). Out: unpacked combos, if they are ready when split_combo.c asks for
 * them. The main thread never waits: it unpacks the rest itself.
 *
 * The second thread uses only jobs. A job's result depends only on the job's bytes, sensor id and
 * count, and is taken only for a combo for which all three are the same. So no job must be
 * cancelled if a sensor gets new keys or a new run, is held, or is removed.
 */
#ifndef COLLECTOR_COMBO_AHEAD_H
#define COLLECTOR_COMBO_AHEAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unpack.h"

#define AHEAD_JOBS 8
#define AHEAD_JOBS_EACH 4 /* of one sensor while others have combos too */
#define AHEAD_WAKE 3	  /* combos that wake the thread; a wake-up costs microseconds */

struct combos;
struct sensor;

enum ahead_state {
	AHEAD_FREE,
	AHEAD_READY,   /* a thread may claim it, or the main thread may free it */
	AHEAD_RUNNING, /* a thread unpacks it */
	AHEAD_DONE,
	AHEAD_TAKEN, /* the main thread uses the result */
};

struct ahead_combo {
	const struct sensor *sensor; /* only compared */
	const uint8_t *bytes;
	size_t len; /* at most COMBO_WIRE_MAX */
	uint64_t count;
	uint16_t id; /* that the combo must have */
};

struct ahead_job {
	uint32_t state; /* enum ahead_state */
	bool valid;	/* unpack_combo's result */
	bool comes;	/* the main thread's: the combo is among the next */
	uint64_t took_ns;
	struct ahead_combo combo;
	uint8_t bytes[COMBO_WIRE_MAX];
	struct unpacked unpacked;
};

/* Zeroed, it has no thread. */
struct ahead {
	struct ahead_job *jobs; /* AHEAD_JOBS; NULL: no thread */
	unsigned int submitted; /* the last job */
	struct decompress decompress;
	pthread_t thread;
	pthread_mutex_t lock; /* for the thread's sleep, with `wake` */
	pthread_cond_t wake;
	bool asleep, ended;
	int64_t spent_ns; /* time for combos that were taken, outside their turn; turns.c resets it
			   */
};

/* Starts the thread if the process may use several CPUs. An error is no loss except of time. */
void ahead_start(struct ahead *a);
/* Starts it on any number of CPUs. Returns 0 or -errno. */
int ahead_start_thread(struct ahead *a);
void ahead_stop(struct ahead *a);
/* Lists the combos that come next, in their order. The first one is for the main thread, unless the
 * other one has it already. Jobs with combos that are not listed end. */
void ahead_submit(struct ahead *a, const struct ahead_combo *next, unsigned int count);
/* Returns an unpacked combo, valid until the next ahead_submit; NULL: the caller must unpack it.
 * Sets `*valid` to unpack_combo's result. `d` is the main thread's. */
struct unpacked *ahead_take(struct ahead *a, const struct ahead_combo *want, struct decompress *d,
			    bool *valid);

/* In ahead_plan.c: lists the combos that come next when a sensor has its turn. */
void ahead_plan(struct combos *c, const struct sensor *s);

#endif
