/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Links: which sensors' interfaces are not up. In: the list of sensors, once a second. Out: a log
 * line for each change, at most LINKS_LINES in a second.
 */
#ifndef COLLECTOR_BOARD_LINKS_H
#define COLLECTOR_BOARD_LINKS_H

#include "collector/model/sensors.h"

#define LINKS_LINES 10

/* Compares the sensors' descriptions with those of the last call. */
void links_look(const struct sensors *sensors);
/* Returns words for a letter of wire/info.h: "down", "no carrier" or "absent"; "": up, or not
 * known. */
const char *links_word(char letter);

#endif
