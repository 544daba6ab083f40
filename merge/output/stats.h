/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stats: what a report of a unified trace needs, in memory that does not depend on the trace's
 * length. A trace is read twice:
 *
 *     survey: who is there, when, and who is busiest ─▶ measure: the busiest over time ─▶ print
 *
 * All sensors have a row. The `top` sensors with the most receptions also have values over time and
 * a place in the matrices. In: an untrusted trace.
 */
#ifndef MERGE_OUTPUT_STATS_H
#define MERGE_OUTPUT_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "merge/frame/identity.h"
#include "stats_spread.h"
#include "stats_transmitters.h"
#include "trace.h"

#define STATS_SENSORS 16384  /* with a row; the receptions of others are counted */
#define STATS_TOP_MAX 400    /* sensors, and transmitters, with a place in the matrices */
#define STATS_POINTS_MAX 250 /* over time */
#define STATS_CHANNELS 64
#define STATS_HEARD_MAX 64 /* more radios than this count as this many */
#define STATS_PARTS 65536
#define STATS_NAME 64
#define STATS_BURSTS 256

struct stats_options {
	uint32_t sensors, transmitters; /* with a place in the matrices */
	const char
		*near; /* only transmissions that one of these sensors hears strongest; NULL: all */
	uint32_t points; /* 0: one a second, within bounds */
};

struct stats_sensor {
	char name[STATS_NAME];
	uint16_t id, part; /* the last one */
	uint32_t place;	   /* among the busiest, from 1; 0: it is not */
	uint64_t receptions, late, off;
	int64_t first_ns, last_ns;
	uint32_t alone[FRAME_CLASSES]; /* transmissions that only this sensor heard */
	struct spread residuals;       /* from the transmission's time */
};

/* A point in time of one of the busiest sensors. */
struct stats_point {
	uint32_t receptions;
	bool has_offset;
	int64_t offset_ns; /* of its clock: unified time minus its own, at the last reception */
	struct spread residuals;
};

struct stats_part {
	uint64_t receptions;
	uint32_t sensors;
	int64_t first_ns, last_ns;
};

struct stats_channel_point {
	double airtime_us;
	uint32_t transmissions, several; /* heard by more than one sensor */
	uint32_t attempts, retries;	 /* of frames that want an acknowledgement */
	uint32_t listening;		 /* sensors that heard at least one frame */
};

struct stats_channel {
	uint16_t mhz;
	uint16_t *seen; /* by sensor: its last point, from 1 */
	struct stats_channel_point *points;
};

/* One of the busiest transmitters. */
struct stats_transmitter {
	uint64_t transmissions, receptions, attempts, retries;
	double airtime_us;
	uint32_t mhz; /* the last one */
};

/* A transmitter as a sensor hears it. */
struct stats_heard {
	uint32_t receptions;
	int64_t signal; /* sum of dBm */
};

/* The last HT, VHT or HE frame of a transmitter: the next one may be of the same A-MPDU. */
struct stats_burst {
	uint64_t transmitter;
	int64_t at_ns;
	bool aggregated;
	uint32_t aggregate; /* the A-MPDU's number */
};

/* A frame, as its packet block describes it. */
struct stats_frame {
	int64_t at_ns;
	enum frame_class class;
	uint64_t transmitter; /* 0: none, or not to be trusted */
	bool wants_ack, retry;
	uint16_t mhz;
	double airtime_us;
	bool has_rate;
	struct trace_receptions receptions;
	bool found; /* a late reception of an earlier block's transmission */
};

struct stats {
	struct stats_options options;
	/* Survey */
	struct stats_sensor *sensors;
	uint32_t sensor_count, sensor_room;
	uint16_t *sensor_of;	   /* index + 1 by id; 0: none */
	char (*names)[STATS_NAME]; /* by id */
	bool *near;		   /* by id: in options.near */
	struct stats_part *parts;
	struct transmitters transmitters;
	uint64_t number; /* of the last transmission */
	uint16_t *mhz;	 /* by interface of the present section */
	uint32_t interfaces;
	/* Measure */
	bool measuring;
	int64_t begin_ns, step_ns; /* the points' */
	uint32_t *places;	   /* indices of the busiest sensors, by place - 1 */
	uint32_t place_count;
	struct stats_point *points; /* place, then time */
	uint32_t *together;	    /* place, then place: transmissions that both heard */
	uint64_t *addresses;	    /* of the busiest transmitters, by place - 1 */
	uint32_t address_count;
	struct stats_transmitter *sent; /* by place - 1 */
	struct stats_heard *heard;	/* sensor's place, then transmitter's */
	struct stats_channel channels[STATS_CHANNELS];
	uint32_t channel_count;
	uint64_t classes[FRAME_CLASSES], airtime_unknown[FRAME_CLASSES];
	uint64_t heard_by[FRAME_CLASSES][STATS_HEARD_MAX + 1]; /* by the number of sensors */
	struct stats_burst bursts[STATS_BURSTS];	       /* by the transmitter's hash */
	/* Counters of things that the output leaves out */
	uint64_t elsewhere; /* transmissions that other sensors than options.near hear strongest */
	uint64_t malformed, without_receptions, sensors_left_out, channels_left_out, outside;
	uint64_t transmissions, receptions;
};

/* Returns 0 or -ENOMEM. */
int stats_init(struct stats *s, const struct stats_options *o);
void stats_free(struct stats *s);
/* Takes a block of the trace: trace_read()'s function. Returns 0 or -ENOMEM. */
int stats_block(void *stats, struct pcapng_block *b);
/* All blocks were taken; the same blocks follow once more. Returns 0 or -ENOMEM. */
int stats_measure(struct stats *s);

/* For the parts of this stage. */
/* Reads a packet block. Returns false after it has counted why not. */
bool stats_frame_read(struct stats *s, struct stats_frame *f, struct pcapng_block *b);
void stats_survey_frame(struct stats *s, const struct stats_frame *f);
int stats_measure_frame(struct stats *s, const struct stats_frame *f);
/* Returns the point of a time, or -1 outside. */
int stats_point_of(const struct stats *s, int64_t ns);

#endif
