/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sensors file (--sensors): the sensors that may send, one per line,
 *
 *     NAME ID PUBLIC-KEY [PRESHARED-KEY] [one-way] [next=PUBLIC-KEY] [group=GROUP]
 *     [linktypes=LIST] [floor=NUMBER] [x=METRES] [y=METRES]
 *
 * with link types as in linktypes.h, and groups as in groups_file.h. '#' begins a comment. Read at
 * the start and on SIGHUP. With preshared keys, it is as secret as a key file.
 */
#ifndef COLLECTOR_MODEL_SENSORS_FILE_H
#define COLLECTOR_MODEL_SENSORS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "groups_file.h"
#include "linktypes.h"
#include "wire/keys.h"

#define SENSOR_NAME_MAX 32

/* Where a sensor is. A value that is not in the file is 0, and its flag is false. */
struct sensor_place {
	bool has_floor, has_x, has_y;
	int32_t floor;
	double x, y; /* metres */
};

struct sensors_line {
	char name[SENSOR_NAME_MAX];
	uint16_t id;
	unsigned int number;			     /* of the line in the file */
	uint8_t public[KEY_LEN], preshared[KEY_LEN]; /* preshared: zeros: none */
	uint8_t next[KEY_LEN];			     /* its next public key; zeros: none */
	bool one_way;				     /* one-way sessions are allowed */
	char group_name[GROUP_NAME_MAX];	     /* "": none */
	struct linktypes linktypes;		     /* allowed ones */
	struct sensor_place place;
	uint16_t group; /* its number, from 1, set after the last line; 0: none */
};

struct sensors_file {
	struct sensors_line *lines;
	unsigned int count;
	struct groups_file groups;
};

/* Reads the open file and closes it. Returns 0, or -errno after a message with file, line and
 * mistake. */
int sensors_file_read(struct sensors_file *f, int fd, const char *path);
/* The same; the file may list no sensor. */
int sensors_file_read_any(struct sensors_file *f, int fd, const char *path);
bool sensors_file_name_valid(const char *name);
/* Reads a word about a sensor's place, "floor=2", "x=1.5" or "y=3". Returns whether it was one;
 * `*wrong` is then NULL or the mistake. */
bool sensors_file_place(struct sensor_place *p, const char *word, const char **wrong);
void sensors_file_free(struct sensors_file *f); /* also if all zeros; wipes keys */

#endif
