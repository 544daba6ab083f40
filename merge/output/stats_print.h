/* SPDX-License-Identifier: GPL-2.0 */
/* Stats' output: one JSON object. docs/saluki-merge.1 has its members. */
#ifndef MERGE_OUTPUT_STATS_PRINT_H
#define MERGE_OUTPUT_STATS_PRINT_H

#include "stats_clocks.h"

#define STATS_ADDRESS 18 /* as text, with its end */

/* `clocks`: NULL without a table of clocks. The caller looks for errors of `out`. */
void stats_print(FILE *out, const struct stats *s, const struct stats_clocks *clocks);
/* Prints the busiest transmitters, a line each, with tabs between the columns. */
void stats_print_stations(FILE *out, const struct stats *s);
/* Prints a few lines for people. */
void stats_print_summary(FILE *out, const struct stats *s);
/* Writes an address. Returns `text`. */
const char *stats_address_text(char text[STATS_ADDRESS], uint64_t address);

#endif
