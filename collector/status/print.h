/* SPDX-License-Identifier: GPL-2.0 */
/* Print the board's sensors (board/board.h): as a table, and as JSON. */
#ifndef COLLECTOR_STATUS_PRINT_H
#define COLLECTOR_STATUS_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "board/look.h"

/* Names of sensors and groups that are printed; count 0: all. */
struct status_names {
	char *const *list;
	int count;
};

/* Writes the local time of day, or the date if `us` is over a day before `now_us`. */
const char *status_time(char out[32], uint64_t us, uint64_t now_us);
bool status_is_named(const struct status_names *n, const struct board_sensor *s);

/* Write a line about --sink, or --source, of which the option is given. Return `out`. */
#define STATUS_KAFKA_MAX 640
const char *status_sink(char out[STATUS_KAFKA_MAX], const struct board_states *s);
const char *status_source(char out[STATUS_KAFKA_MAX], const struct board_states *s);

/* How the table is printed. */
struct status_layout {
	bool by_trouble; /* the worst first; otherwise as in the sensors file */
	int rows;	 /* most rows, also of the summary; 0: all */
	int columns;	 /* characters of a row; 0: all */
};

extern const struct status_layout status_all;

/* Returns 0, or -ENOMEM. */
int status_table(FILE *f, const struct board_states *s, const struct status_names *n,
		 const struct status_layout *l);

#endif
