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

/* A sensor's trouble, the worst last. */
enum status_trouble {
	TROUBLE_NONE,
	TROUBLE_ENDED,
	TROUBLE_LOSING, /* it lost frames in the last second */
	TROUBLE_HELD,	/* its frames wait for disk space */
	TROUBLE_NEVER,
	TROUBLE_SILENT,
	TROUBLE_UNBALANCED,
};

/* `before`: the sensor a second earlier; NULL: unknown. */
enum status_trouble status_trouble(const struct board_sensor *now,
				   const struct board_sensor *before);
/* Returns the sensor of index `i` in the earlier state; NULL: it was not there. */
const struct board_sensor *status_earlier(const struct status_states *s, uint32_t i);
/* Writes the local time of day, or the date if `us` is over a day before `now_us`. */
const char *status_time(char out[32], uint64_t us, uint64_t now_us);
bool status_is_named(const struct status_names *n, const struct board_sensor *s);
/* Returns the number of frames that the sensor has lost for good, for all reasons. */
uint64_t status_lost(const struct board_sensor *s);
/* Writes the address without its port, or "". Returns `out`. */
#define STATUS_ADDRESS_MAX 48
const char *status_address(char out[STATUS_ADDRESS_MAX], const struct board_sensor *s);

/* How the table is printed. */
struct status_layout {
	bool by_trouble; /* the worst first; otherwise as in the sensors file */
	int rows;	 /* most rows, also of the summary; 0: all */
	int columns;	 /* characters of a row; 0: all */
};

extern const struct status_layout status_all;

/* Return 0, or -ENOMEM. */
int status_table(FILE *f, const struct status_states *s, const struct status_names *n,
		 const struct status_layout *l);
int status_json(FILE *f, const struct status_states *s, const struct status_names *n);

#endif
