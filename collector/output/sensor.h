/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sensor as output/ alone knows it: sensor.output (collector/model/sensors.h). Each stage's part
 * is here, so that this file includes no stage.
 */
#ifndef COLLECTOR_OUTPUT_SENSOR_H
#define COLLECTOR_OUTPUT_SENSOR_H

#include "collector/model/rate_limit.h"
#include "collector/model/sensors.h"
#include "wire/info.h"

#define INTERFACES_BLOCKS_MAX 32 /* remembered of a sensor, and free in each section */
#define INTERFACES_NAME_MAX 16	 /* IFNAMSIZ; what is longer is cut */

/* Modules whose events it sends (event_log.h). */
struct event_log_names {
	uint16_t count; /* that it was the first to use */
	bool told;	/* that it has used up all */
	struct rate_limit opens;
};

/* A sensor's interface blocks in the present section (interfaces.h). */
struct interfaces {
	unsigned int section; /* of which the ids are; an older one makes them void */
	unsigned int count;
	unsigned int turn;	 /* which of all is to be forgotten next */
	unsigned int made;	 /* in this section */
	unsigned int run;	 /* rises with every run, whose frames have blocks of their own */
	uint64_t now_ns;	 /* CLOCK_MONOTONIC, as of interfaces_begin */
	uint64_t extra_until_ns; /* so far ahead extra blocks are used up */
	unsigned int last;	 /* block of the frame before, or any */
	struct interfaces_block {
		uint64_t described; /* as what it is described */
		uint16_t linktype;
		uint8_t interface;
		unsigned int run;
		uint32_t id;
		uint64_t first_ns, last_ns, frames;
	} list[INTERFACES_BLOCKS_MAX];
	/* A hash of what the sensor says by now of each interface and of itself. */
	uint64_t described[INFO_INTERFACES_MAX];
	char names[INFO_INTERFACES_MAX][INTERFACES_NAME_MAX]; /* "": it has not said one */
};

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
