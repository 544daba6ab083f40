/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Written: which combos are settled, that is written or counted as lost, of the last runs of every
 * sensor. In: what output.c has written; at the start, the state file (state.h) and the names in
 * the files that were written after it. Out: where a run goes on that comes again, also in another
 * process. Always holds: a combo whose name is here does not come into a file again.
 */
#ifndef COLLECTOR_OUTPUT_WRITTEN_H
#define COLLECTOR_OUTPUT_WRITTEN_H

#include <stdint.h>

#include "pcapng.h"

#define WRITTEN_RUNS 4 /* remembered of each sensor */
#define WRITTEN_SENSORS 65536

struct sensor_run {
	uint64_t run;
	uint64_t next;	    /* combos of it below this one are settled */
	uint64_t accounted; /* frames of the run in those */
};

struct written_sensor {
	unsigned int count;
	struct sensor_run runs[WRITTEN_RUNS]; /* the one that was heard last comes first */
};

/* By the sensor's id; also of sensors that are not in the sensors file (any more). */
struct written {
	struct written_sensor *of[WRITTEN_SENSORS]; /* NULL: nothing is known */
	unsigned int count;			    /* of those that are not */
};

/* Where a run goes on, or NULL where nothing is known of it. Valid until the next written_put. */
const struct sensor_run *written_find(const struct written *n, uint16_t sensor, uint64_t run);
/* Notes that a run is settled below `next`. Never goes back. Returns 0 or -ENOMEM. */
int written_put(struct written *n, uint16_t sensor, uint64_t run, uint64_t next,
		uint64_t accounted);
/* Takes the names out of a file, from the block at `from` on. Returns how many of its `len` bytes
 * are whole blocks of whole combos, so that the rest may be cut off, or -errno; -EBADMSG: no
 * pcapng, or damaged in the middle. */
int64_t written_scan(struct written *n, int fd, int64_t from, int64_t len);
void written_free(struct written *n);

#endif
