/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State: the data that a restarted collector needs and cannot find quickly in files: the latest
 * protocol time, the place in the files up to which names are known, these names (written.h),
 * and when each sensor was last heard.
 * Text with a hash at its end, replaced atomically through the privileged process: when a file
 * begins, at the end, and once per interval.
 */
#ifndef COLLECTOR_OUTPUT_STATE_H
#define COLLECTOR_OUTPUT_STATE_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "collector/model/sensors.h"
#include "written.h"

struct state {
	uint64_t floor_ns;   /* lower bound of protocol time from now on */
	char file[PATH_MAX]; /* output file; "": none, or not known */
	uint64_t offset;     /* the state has all names before it */
	/* As read: by the sensor's id, STATE_SENSORS of them; malloc; NULL: of no sensor. */
	struct sensor_before *sensors;
};

#define STATE_SENSORS 65536

/* Writes state and names, and when the listed sensors were last heard. Returns 0 or -errno. */
int state_write(FILE *f, const struct state *s, const struct written *n,
		const struct sensors *sensors);
/* Lets the sensors know what was read of them, and frees it. */
void state_recall(struct state *s, const struct sensors *sensors);
/* Reads them. Returns 0, -ENOENT if the file is empty, -EBADMSG if it is damaged, or -ENOMEM; after
 * an error nothing has changed. */
int state_read(FILE *f, struct state *s, struct written *n);

#endif
