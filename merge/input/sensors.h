/* SPDX-License-Identifier: GPL-2.0 */
/* Sensors: who has heard what a section's interfaces have. In: interface blocks. Out: sensors and
 * radios, the same ones for all files. */
#ifndef MERGE_INPUT_SENSORS_H
#define MERGE_INPUT_SENSORS_H

#include "merge/model/slice.h"
#include "merge/sweep/merge.h"
#include "pcapng/block.h"

#define SENSORS_RADIOTAP 127 /* link type */
#define RADIOS_EACH 255	     /* of a sensor */
#define SENSORS_MAX 65536
#define SENSORS_BUCKETS 65536
#define RADIO_OPTIONS_MAX 4096

struct input_radio {
	char name[128]; /* the interface's */
	uint16_t linktype;
	uint32_t sensor;
	uint8_t number;
	uint8_t *options; /* the text options of its interface block */
	uint16_t options_len;
};

struct input_sensor {
	char name[64];
	uint16_t id;	 /* the collector's; 0: none */
	uint16_t number; /* in the trace: the id, if no other sensor has it */
	uint32_t same;	 /* the next sensor with this hash: its index + 1; 0: none */
	uint64_t run, last_run;
	uint64_t older_run; /* the one of both that began first, */
	int64_t run_ns;	    /* and the stamp of the other one's first frame */
	bool twice;	    /* it was said that two machines are this sensor */
	uint8_t radios;
	bool full;
	struct slice_floor floor;    /* the first one that the input says */
	int64_t stamp_ns;	     /* of its last frame */
	uint32_t radio[RADIOS_EACH]; /* their numbers */
};

/* A section's interface. */
struct input_interface {
	int32_t radio; /* -1: its frames are left out */
	uint16_t linktype;
	bool left; /* its frames, and what is said of its sensor's clock, to other mergers */
	uint64_t ticks;
	int64_t offset_s;
	uint32_t sensor;
	uint64_t missed; /* frames, as its statistics say */
};

struct input_section {
	struct input_interface *of;
	uint32_t count, room;
	bool swapped;
};

struct sensors {
	struct input_sensor *list;
	struct input_radio *radios; /* by the merge's number */
	uint32_t count, room, radio_count, radio_room;
	uint32_t buckets[SENSORS_BUCKETS]; /* by the hash of id and name: index + 1 */
	uint64_t numbers[65536 / 64];	   /* that are given */
	struct merge *merge;
	const struct slice *slice; /* what is not left to other mergers; NULL: all */
	bool any_floor;		   /* the input says one */
	bool all;		   /* interfaces of other link types are radios, too */
};

/* Adds the interface to its section. `file` names sensors of files that do not. Returns 0 or
 * -ENOMEM. */
int sensors_interface(struct sensors *s, struct input_section *to, struct pcapng_block *b,
		      const char *file);
/* Returns how many more frames of an interface a statistics block calls missed than the last one; 0
 * if the sensor is left to other mergers. */
uint64_t sensors_missed(struct input_section *section, const struct pcapng_block *b);
void sensors_section_free(struct input_section *section);
void sensors_free(struct sensors *s);

#endif
