/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sensor: the room's own part of a sensor, sensor.combo (collector/model/sensors.h). The types of
 * all stages are here. The only included stage is the pool, which does not use sensors.
 */
#ifndef COLLECTOR_COMBO_SENSOR_H
#define COLLECTOR_COMBO_SENSOR_H

#include "collector/model/rate_limit.h"
#include "collector/model/sensors.h"
#include "forward.h"
#include "reassemble_pool.h"

/* A session's run, as its set-up describes it. */
struct run_terms {
	uint64_t run;
	struct forward forward;
	struct sensor_info info;
};

enum turns_state { TURNS_IDLE, TURNS_READY, TURNS_HELD };

/* A sensor's state in the order of turns (turns.h). */
struct turn {
	struct sensor *next;	   /* in the queue, or in the list of held sensors */
	int64_t credit_ns;	   /* rest of its turn; negative: subtracted from the next ones */
	uint8_t state;		   /* enum turns_state */
	bool logged;		   /* a hold was logged, its end was not */
	struct rate_limit hurried; /* limits turns_hurry */
	uint64_t held_at_ns;	   /* CLOCK_MONOTONIC; since then it is held */
	uint64_t held_ns;	   /* total time held, without the current hold */
	uint64_t logged_ns;	   /* when a hold was last logged; 0: never */
};

/* A FLOOR that takes effect at `due_ns`. */
struct late_floor {
	uint64_t due_ns; /* CLOCK_MONOTONIC; 0: none */
	uint64_t run, combo, first;
};

/* A FLOOR: missing combos below `combo` will not arrive. Their frames count as missing once all
 * combos before it are taken. */
struct gap {
	uint64_t combo, first;
	int (*gone)(struct ledger *, uint64_t); /* NULL: no gap */
};

/* progress.c: the oldest word that waits, and the newest one. `before_ns` 0: none. */
struct progress_waits {
	struct {
		uint64_t exported, before_ns;
	} first, last;
	uint64_t told_ns; /* `before_ns` of the last word that was passed on */
};

struct combo_sensor {
	struct reassembly reassembly;
	bool waiting;		/* its current session's run starts later */
	bool no_room;		/* a piece was refused since the last ACK: ACK_FULL */
	uint8_t refused_logged; /* frame_check.h: bitmap of logged reasons */
	struct gap gap;		/* gaps.c */
	struct forward forward; /* the spool that its current session forwards */
	struct turn turn;
	struct late_floor floors[2]; /* one_way.c: the earlier one first */
	struct progress_waits progress;
	/* Combos use what is above. */

	struct run_terms next; /* runs.c: of the run that waits */
};

/* Returns 0 or -ENOMEM. */
int combo_sensor_new(struct sensor *s);
/* s->combo may be NULL. The sensor must have nothing left in the pool. */
void combo_sensor_free(struct sensor *s);

#endif
