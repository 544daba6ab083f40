/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output rotate: ends a section with the sensors' statistics blocks, and begins the next file. In:
 * a file that is full, or has been open for -G. Without a new file, the old one continues.
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_ROTATE_H
#define COLLECTOR_OUTPUT_OUTPUT_ROTATE_H

#include "buffer.h"

/* Writes the statistics blocks of a sensor's interfaces. The sensor decides their length and its
 * run's end, so they count against its budget. */
void output_statistics(struct output *out, struct sensor *s);
/* Writes the current statistics blocks of all sensors in this section. */
void output_section_end(struct output *out);
/* Before a combo of `more` bytes: begins the next file if they would exceed this one's limit, or if
 * this one is due. serve.c removes this one if it is empty. */
void output_rotate_before(struct output *out, size_t more, uint64_t now_ns);
/* Ends the section when due. The next file begins with the next combo, so that times without frames
 * leave no empty files. */
void output_end_due(struct output *out, uint64_t now_ns);

#endif
