/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sensor record: what readers of the log must know of a sensor, as a message of the topic
 * PUT_SENSORS (wire/put.h). Its value has "key=value\n" lines: name, id, and if the sensors file
 * has them group, floor, x, y (metres) and linktypes, as in the sensors file; then the lasting part
 * of what the sensor said of itself (wire/info.h), without `change`.
 */
#ifndef COLLECTOR_MODEL_SENSOR_RECORD_H
#define COLLECTOR_MODEL_SENSOR_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "sensors.h"
#include "wire/put.h"

#define SENSOR_RECORD_MAX 2048

struct sensor_record {
	uint64_t hash; /* of `text` */
	size_t len;
	char key[PUT_KEY_MAX]; /* NAME/HASH, ends with a 0 byte */
	char text[SENSOR_RECORD_MAX];
};

void sensor_record_write(struct sensor_record *r, const struct sensor *s);
/* Reads any bytes: `line` gets the name, the id, the group's name, the place and the link types.
 * info_read() takes the same text. Returns 0, or -EBADMSG without a valid name and id, or with a
 * malformed value. */
int sensor_record_read(struct sensors_line *line, const char *text, size_t len);

#endif
