/* SPDX-License-Identifier: GPL-2.0 */
/* A sensor as combo/ alone knows it: sensor.combo (collector/model/sensors.h). */
#ifndef COLLECTOR_COMBO_SENSOR_H
#define COLLECTOR_COMBO_SENSOR_H

#include "collector/model/sensors.h"
#include "forward.h"
#include "one_way.h"
#include "reassemble.h"
#include "runs.h"
#include "turns.h"

/* FLOOR: what is missing below `combo` will not come. It counts as missing when all before it is
 * taken. */
struct past {
	uint64_t combo, first;
	int (*gone)(struct ledger *, uint64_t); /* NULL: there is none */
};

struct combo_sensor {
	struct reassembly reassembly;
	struct turn turn;
	struct past past;	/* split.c */
	struct forward forward; /* what its present session forwards */
	struct run_terms next;	/* runs.c: of the run that begins when `waiting` is over */
	bool waiting;		/* its present session's run begins later */
	bool no_room;		/* a piece was refused since the last ACK: ACK_FULL */
	uint8_t refused_told;	/* frame_check.h: bits, of what was said */
	struct one_way overdue;
};

/* Returns 0 or -ENOMEM. */
int combo_sensor_new(struct sensor *s);
/* Takes one that has none. Nothing of it is in the pool any more. */
void combo_sensor_free(struct sensor *s);

#endif
