/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page's JSON. Rows of the fleet are arrays, of which `fields` has the names:
 *
 *     name        text
 *     group       text, "": none; 0: as in the row before
 *     trouble     index into `troubles`
 *     presence    index into `presences`; -1: not in the sensors file
 *     heard       seconds since 1970-01-01 UTC, of sensors that are not up; 0: none
 *     seen_rate   frames a second
 *     lost_rate   frames lost a second
 *     seen, lost  frames, by this collector
 *     clock       of the sensor, in microseconds ahead of the collector's
 *     store       percent in use
 *     floor, x, y if the sensor has a place; null: this one is not given
 */
#ifndef WEB_API_H
#define WEB_API_H

#include "resources.h"

/* These write an object. They return 0, -ENOENT (`arg` is an unknown name), or -ENOMEM. */
/* All sensors, the collector, and refused keys. */
int api_fleet(FILE *out, const struct web_look *l, const char *arg);
/* The sensor of the name `arg`. */
int api_sensor(FILE *out, const struct web_look *l, const char *arg);
/* The last hour of channels, of the group `arg`; NULL: of all sensors. */
int api_channels(FILE *out, const struct web_look *l, const char *arg);

#endif
