/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sensor, output: the part of a sensor that only output/ uses: sensor.output
 * (collector/model/sensors.h). It has each stage's part, so this file includes no stage that uses
 * sensors.
 */
#ifndef COLLECTOR_OUTPUT_SENSOR_H
#define COLLECTOR_OUTPUT_SENSOR_H

#include "collector/model/rate_limit.h"
#include "collector/model/sensors.h"
#include "collector/sink/sink.h"
#include "late.h"
#include "pcapng.h"
#include "wire/info.h"

#define INTERFACES_BLOCKS_MAX 32 /* kept per sensor, and free in each section */
#define INTERFACES_NAME_MAX 16	 /* IFNAMSIZ; longer names are truncated */

/* The modules that it named (event_log.h). */
struct event_log_names {
	uint16_t count; /* that it was the first to use */
	bool logged;	/* the limit was logged */
	struct rate_limit opens;
};

/* A sensor's interface blocks in the current section (interfaces.h). */
struct interfaces {
	unsigned int section; /* section of the ids; an older one makes them invalid */
	unsigned int count;
	unsigned int turn;	 /* the next one to forget */
	unsigned int made;	 /* blocks made in this section */
	unsigned int run;	 /* rises with every run; each run has its own blocks */
	uint64_t now_ns;	 /* CLOCK_MONOTONIC of interfaces_begin */
	uint64_t extra_until_ns; /* extra blocks are used up to here */
	unsigned int last;	 /* block of the last frame */
	/* Hashes of the current descriptions of each interface and of the sensor. */
	uint64_t described[INFO_INTERFACES_MAX];
	struct interfaces_block {
		uint64_t described; /* hash of its description */
		uint16_t linktype;
		uint8_t interface;
		unsigned int run;
		uint32_t id;
		uint64_t first_ns, last_ns, frames;
	} list[INTERFACES_BLOCKS_MAX];
	char names[INFO_INTERFACES_MAX][INTERFACES_NAME_MAX]; /* "": no name */
};

/* Its clock's offset (output_clock.h), and when it was last written. */
struct offset {
	struct pcapng_clock_offset now;
	uint64_t streamed_ns; /* monotonic, to a reader; 0: never */
	uint64_t filed_ns;    /* the same to a file, in the section */
	unsigned int filed_section;
	int64_t filed_ahead_ns;
};

/* Combos below `next` are in the buffer, or were skipped. Combos below `settled` need not be sent
 * again. */
struct output_sensor {
	struct sensor *next_pending; /* in the list of sensors with combos in the buffer */
	bool pending;
	uint64_t run;
	uint64_t next, accounted; /* combos and frames of the run, with those in the buffer */
	uint64_t settled; /* combos below it are written, or counted as lost: ACK's `settled` */

	uint64_t disk_spent;	      /* budget.c: bytes */
	uint64_t disk_wrote_ns;	      /* budget.c: monotonic; 0: never */
	struct interfaces interfaces; /* in the current section */
	struct event_log_names names; /* of modules that it named first */
	struct offset offset;
	struct sink_sensor sink; /* with --sink */
	struct late *late;	 /* with --source: the gaps in its runs; otherwise NULL */
};

/* Returns 0 or -ENOMEM. */
int output_sensor_new(struct sensor *s);
void output_sensor_free(struct sensor *s); /* accepts one without */

#endif
