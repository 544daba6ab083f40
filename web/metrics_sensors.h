/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEB_METRICS_SENSORS_H
#define WEB_METRICS_SENSORS_H

#include <stdio.h>

#include "board/read.h"

/* Writes the families saluki_sensor_*. Sensors that are no longer in the sensors file are one
 * sensor, METRICS_UNLISTED. */
void metrics_sensors(FILE *f, const struct board_state *s);
#define METRICS_UNLISTED "(unlisted)" /* not a sensor's name */

#endif
