/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sensor as combo/ alone knows it: sensor.combo (collector/model/sensors.h). Each stage's part is
 * here, so that this file includes no stage but the pool, which knows nothing of sensors.
 */
#ifndef COLLECTOR_COMBO_SENSOR_H
#define COLLECTOR_COMBO_SENSOR_H

#include "collector/model/rate_limit.h"
#include "collector/model/sensors.h"
#include "forward.h"
#include "reassemble_pool.h"

/* A set-up names the run of its session. */
struct run_terms {
	uint64_t run;
	struct forward forward;
	struct sensor_info info;
};

enum turns_state { TURNS_IDLE, TURNS_READY, TURNS_HELD };

/* A sensor's place among those that take turns (turns.h). */
struct turn {
	struct sensor *next;	   /* in the queue, or of those held */
	uint8_t state;		   /* enum turns_state */
	struct rate_limit hurried; /* turns_hurry: in this second */
	int64_t credit_ns;	   /* what is left of its turn; negative: taken off the next ones */
	uint64_t held_at_ns;	   /* CLOCK_MONOTONIC, of one that is held */
	uint64_t held_ns;	   /* for how long it was, without the present time */
	uint64_t told_ns;	   /* when that was last said; 0: never */
	bool told;		   /* it was, and not yet that it is over */
};

/* FLOORs that are to be believed at their time, the earlier one first. */
struct one_way {
	struct one_way_floor {
		uint64_t due_ns; /* CLOCK_MONOTONIC; 0: none */
		uint64_t run, combo, first;
	} floors[2];
};

/* FLOOR: what is missing below `combo` will not come. It counts as missing when all before it is
 * taken. */
struct gap {
	uint64_t combo, first;
	int (*gone)(struct ledger *, uint64_t); /* NULL: there is none */
};

struct combo_sensor {
	struct reassembly reassembly;
	struct turn turn;
	struct gap gap;		/* gaps.c */
	struct forward forward; /* what its present session forwards */
	struct run_terms next;	/* runs.c: of the run that begins when `waiting` is over */
	bool waiting;		/* its present session's run begins later */
	bool no_room;		/* a piece was refused since the last ACK: ACK_FULL */
	uint8_t refused_told;	/* frame_check.h: bits, of what was said */
	struct one_way one_way;
};

/* Returns 0 or -ENOMEM. */
int combo_sensor_new(struct sensor *s);
/* Takes one that has none. Nothing of it is in the pool any more. */
void combo_sensor_free(struct sensor *s);

#endif
