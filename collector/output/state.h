/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State: what a collector that is started again must know and files do not tell soon enough: the
 * latest protocol time that was, where the files go on that were not looked at yet, and the
 * names (written.h) up to there. Text, ended by a hash of it, replaced as a whole by way of the
 * privileged process: when a file is begun, at the end, and once an interval.
 */
#ifndef COLLECTOR_OUTPUT_STATE_H
#define COLLECTOR_OUTPUT_STATE_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "written.h"

struct state {
	uint64_t floor_ns;   /* protocol time is never before it again */
	char file[PATH_MAX]; /* output file; "": none, or its name cannot be told */
	uint64_t offset;     /* names in front of it are here */
};

/* Writes state and names. Returns 0 or -errno. */
int state_write(FILE *f, const struct state *s, const struct written *n);
/* Reads them from the start. Returns 0, -ENOENT where the file is empty, -EBADMSG where it is
 * damaged, or -ENOMEM; then nothing is taken. */
int state_read(FILE *f, struct state *s, struct written *n);

#endif
