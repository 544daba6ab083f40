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
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "written.h"

/* What is known of a sensor that was heard. */
struct state_sensor {
	uint32_t heard_s; /* last datagram, seconds since 1970-01-01 UTC; 0: never */
	bool ended;	  /* in order */
};

struct state {
	uint64_t floor_ns;	      /* lower bound of protocol time from now on */
	char file[PATH_MAX];	      /* output file; "": none, or not known */
	uint64_t offset;	      /* the state has all names before it */
	struct state_sensor *sensors; /* malloc: by id, STATE_SENSORS of them; NULL: none heard */
};

#define STATE_SENSORS 65536

/* Writes state and names. Returns 0 or -errno. */
int state_write(FILE *f, const struct state *s, const struct written *n);
/* Sets what is known of a sensor. Without memory, it is forgotten. */
void state_heard(struct state *s, uint16_t id, struct state_sensor sensor);
/* Returns what is known of a sensor: zeros if nothing is. */
struct state_sensor state_sensor_of(const struct state *s, uint16_t id);
void state_free(struct state *s);
/* Reads them. Returns 0, -ENOENT if the file is empty, -EBADMSG if it is damaged, or -ENOMEM; after
 * an error nothing has changed. */
int state_read(FILE *f, struct state *s, struct written *n);

#endif
