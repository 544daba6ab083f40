/* SPDX-License-Identifier: GPL-2.0 */
/* A sensor as output/ alone knows it: sensor.output (collector/model/sensors.h). */
#ifndef COLLECTOR_OUTPUT_SENSOR_H
#define COLLECTOR_OUTPUT_SENSOR_H

#include "collector/model/sensors.h"
#include "event_log.h"
#include "interfaces.h"

/* Combos below `next` are in the buffer, or passed over. Combos below `settled` need not be sent
 * again. */
struct output_sensor {
	struct sensor *next_pending; /* in the list of those whose combos are in the buffer */
	bool pending;
	uint64_t run;
	uint64_t next, accounted; /* combos and frames of the run, with those in the buffer */
	uint64_t settled; /* combos below it are written, or counted as lost: ACK's `settled` */

	uint64_t disk_spent;	      /* budget.c: bytes */
	uint64_t disk_wrote_ns;	      /* budget.c: monotonic; 0: never */
	struct interfaces interfaces; /* that are in the present section */
	struct event_log_names names; /* of modules that it was the first to use */
};

/* Returns 0 or -ENOMEM. */
int output_sensor_new(struct sensor *s);
void output_sensor_free(struct sensor *s); /* takes one that has none */

#endif
