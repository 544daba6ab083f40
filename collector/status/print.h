/* SPDX-License-Identifier: GPL-2.0 */
/* Print the board's sensors (wire/board.h): as a table, and as JSON. */
#ifndef COLLECTOR_STATUS_PRINT_H
#define COLLECTOR_STATUS_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "wire/board_read.h"

/* Names of sensors and groups that are printed; count 0: all. */
struct status_names {
	char *const *list;
	int count;
};

/* Two states in succession. `before` may be without sensors: then there are no rates. */
struct status_states {
	struct board_state now, before;
};

bool status_is_named(const struct status_names *n, const struct board_sensor *s);
/* Returns the number of frames that the sensor has lost for good, for all reasons. */
uint64_t status_lost(const struct board_sensor *s);
/* Writes the address without its port, or "". Returns `out`. */
#define STATUS_ADDRESS_MAX 48
const char *status_address(char out[STATUS_ADDRESS_MAX], const struct board_sensor *s);

/* Return 0, or -ENOMEM. */
int status_table(FILE *f, const struct status_states *s, const struct status_names *n);
int status_json(FILE *f, const struct status_states *s, const struct status_names *n);

#endif
