/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sensors file (--sensors): who may send, a line each,
 *
 *     NAME ID PUBLIC-KEY [PRESHARED-KEY] [one-way] [group=GROUP] [linktypes=LIST]
 *
 * of link types what linktypes.h says, and of groups what groups_file.h says. '#' begins a comment.
 * Read at the start and whenever SIGHUP comes. With preshared keys in it, it is as secret as a key
 * file.
 */
#ifndef COLLECTOR_MODEL_SENSORS_FILE_H
#define COLLECTOR_MODEL_SENSORS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "groups_file.h"
#include "linktypes.h"
#include "wire/keys.h"

#define SENSOR_NAME_MAX 32

struct sensors_line {
	char name[SENSOR_NAME_MAX];
	uint16_t id;
	unsigned int number;			     /* of the line */
	uint8_t public[KEY_LEN], preshared[KEY_LEN]; /* preshared: zeros where there is none */
	bool one_way;				     /* it may send without hearing us */
	char group_name[GROUP_NAME_MAX];	     /* "": it is in none */
	struct linktypes linktypes;		     /* that it may send */
	uint16_t group; /* number of it, from 1, once the file was read; 0: it is in none */
};

struct sensors_file {
	struct sensors_line *lines;
	unsigned int count;
	struct groups_file groups;
};

/* Reads the open file, which is closed. Returns 0, or -errno after a line that names file, line and
 * mistake. */
int sensors_file_read(struct sensors_file *f, int fd, const char *path);
void sensors_file_free(struct sensors_file *f); /* takes a zeroed one too; keys are wiped */

#endif
