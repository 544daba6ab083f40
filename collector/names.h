/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names: which combos are settled, that is written or counted as lost, of the last runs of every
 * sensor. In: what output.c has written; at the start, the state file (state.h) and the names in
 * the files that were written after it. Out: where a run goes on that comes again, also in another
 * process. Always holds: a combo whose name is here does not come into a file again.
 */
#ifndef COLLECTOR_NAMES_H
#define COLLECTOR_NAMES_H

#include <stdint.h>

#include "pcapng.h"

#define NAMES_RUNS 4 /* remembered of each sensor */
#define NAMES_SENSORS 65536

struct sensor_run {
	uint64_t run;
	uint64_t next;	    /* combos of it below this one are settled */
	uint64_t accounted; /* frames of the run in those */
};

struct names_sensor {
	unsigned int count;
	struct sensor_run runs[NAMES_RUNS]; /* the one that was heard last comes first */
};

/* By the sensor's id; also of sensors that are not in the sensors file (any more). */
struct names {
	struct names_sensor *of[NAMES_SENSORS]; /* NULL: nothing is known */
	unsigned int count;			/* of those that are not */
};

/* Where a run goes on, or NULL where nothing is known of it. Valid until the next names_put. */
const struct sensor_run *names_find(const struct names *n, uint16_t sensor, uint64_t run);
/* Notes that a run is settled below `next`. Never goes back. Returns 0 or -ENOMEM. */
int names_put(struct names *n, uint16_t sensor, uint64_t run, uint64_t next, uint64_t accounted);
/* Takes the names out of a file, from the block at `from` on. Returns how many of its `len` bytes
 * are whole blocks of whole combos, so that the rest may be cut off, or -errno; -EBADMSG: no
 * pcapng, or damaged in the middle. */
int64_t names_scan(struct names *n, int fd, int64_t from, int64_t len);
void names_free(struct names *n);

#endif
