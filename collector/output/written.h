/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Written: the settled combos, written or counted as lost, of every sensor's latest runs. In:
 * output.c's writes; at the start, the state file (state.h) and the names in later files. Out: the
 * next combo of a run that continues, also in another process. Always holds: a combo with its name
 * here is never written again.
 */
#ifndef COLLECTOR_OUTPUT_WRITTEN_H
#define COLLECTOR_OUTPUT_WRITTEN_H

#include <stdint.h>

#include "late.h"
#include "pcapng.h"

#define WRITTEN_RUNS 32 /* kept per sensor: a log that is read again has old ones */
#define WRITTEN_SENSORS 65536

struct sensor_run {
	uint64_t run;
	uint64_t next;	    /* its combos below this are settled */
	uint64_t accounted; /* the run's frames in those */
};

struct written_sensor {
	unsigned int count;
	struct sensor_run runs[WRITTEN_RUNS]; /* the latest one first */
	struct late *late;		      /* gaps in them; NULL: none were noted */
	bool given;			      /* a sensor of this process has the gaps */
};

/* By the sensor's id; also for sensors that are not in the sensors file. */
struct written {
	struct written_sensor *of[WRITTEN_SENSORS]; /* NULL: unknown */
	unsigned int count;			    /* number of those that are not NULL */
	bool gaps;				    /* they are noted: with --source */
	bool from_state; /* a run that is not here has no combo in any file */
};

/* Returns a run's place, or NULL if unknown. Valid until the next written_put. */
const struct sensor_run *written_find(const struct written *n, uint16_t sensor, uint64_t run);
/* Notes that a run is settled below `next`. It never decreases. Returns 0 or -ENOMEM. */
int written_put(struct written *n, uint16_t sensor, uint64_t run, uint64_t next,
		uint64_t accounted);
/* Notes a sensor's gaps, as they are in the files, and clears `changed`. */
void written_gaps_put(struct written *n, uint16_t sensor, struct late *l);
/* Notes one more. Returns 0 or -ENOMEM. */
int written_gap_put(struct written *n, uint16_t sensor, const struct late_gap *g);
/* Copies the noted gaps, once: a sensor that has got another name leaves them with its old name. */
void written_gaps(struct written *n, uint16_t sensor, struct late *l);
/* Reads the names in a file, from the block at `from` on. Returns how many of its `len` bytes are
 * complete combos, so that the rest may be truncated, or -errno; -EBADMSG: no pcapng, or damaged in
 * the middle. */
int64_t written_scan(struct written *n, int fd, int64_t from, int64_t len);
void written_free(struct written *n);

#endif
