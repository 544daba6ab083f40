/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sensor list: applies the sensors file. In: the file, at the start and at each reload. Out: every
 * room's part of a new sensor, and the sensor's addresses for handshakes in the table. Always
 * holds: a sensor has only sessions that were set up with its listed keys.
 */
#ifndef COLLECTOR_NETWORK_SENSOR_LIST_H
#define COLLECTOR_NETWORK_SENSOR_LIST_H

#include "network.h"

/* The caller sets the pointers of struct network and handshake.own, and zeroes the rest.
 * `floor_ns`: see handshake_init. */
void sensor_list_init(struct network *o, uint64_t floor_ns);
/* Applies the file to the list. Returns 0, or -ENOMEM after a line. */
int sensor_list_apply(struct network *o, const struct sensors_file *f);
/* Ends all sessions, frees the sensors and wipes the keys. */
void sensor_list_free(struct network *o);

#endif
