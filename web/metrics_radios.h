/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEB_METRICS_RADIOS_H
#define WEB_METRICS_RADIOS_H

#include <stdio.h>

#include "board/read.h"

/* Write the families saluki_interface_* and saluki_radio_*; and saluki_channel_* for each sensor.
 * They show the present runs of sensors that are in the sensors file. */
void metrics_radios(FILE *f, const struct board_state *s);
void metrics_channels(FILE *f, const struct board_state *s);

#endif
