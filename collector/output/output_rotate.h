/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output rotate: ends a section with the sensors' statistics blocks, and begins the next file. In:
 * a file that is full, or has been open for --rotate seconds. Without a new file, the old one
 * continues.
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_ROTATE_H
#define COLLECTOR_OUTPUT_OUTPUT_ROTATE_H

#include "buffer.h"

/* Writes the statistics blocks of a sensor's interfaces. The sensor decides their length and its
 * run's end, so they count against its budget. */
void output_statistics(struct output *out, struct sensor *s);
/* Writes the current statistics blocks of all sensors in this section. */
void output_section_end(struct output *out);
/* Begins the next file if `more` bytes would exceed this one's limit. */
void output_rotate_full(struct output *out, size_t more, uint64_t now_ns);
/* Begins the next file when due. */
void output_rotate_due(struct output *out, uint64_t now_ns);

#endif
