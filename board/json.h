/* SPDX-License-Identifier: GPL-2.0 */
/* A state of the board as JSON: for `saluki-collector status --json`, --stats-file and
 * saluki-web. */
#ifndef BOARD_JSON_H
#define BOARD_JSON_H

#include <stdio.h>

#include "look.h"

/* Prints the state as an object. `sensors` has those for which `wanted` returns true; NULL: all. */
void board_json(FILE *f, const struct board_states *s,
		bool (*wanted)(const void *arg, const struct board_sensor *s), const void *arg);
/* Prints the sensor of index `i` as an object. */
void board_json_sensor(FILE *f, const struct board_states *s, uint32_t i);
/* Print the members of the collector's object, without brackets: its own; and the list of refused
 * sensors. */
void board_json_collector(FILE *f, const struct board_state *s);
void board_json_refused(FILE *f, const struct board_state *s);

#endif
