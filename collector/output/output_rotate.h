/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output rotate: a section ends with the sensors' statistics blocks, and the next file begins. In:
 * a file that is full, or that has been open for --rotate seconds. Where no new file can be had,
 * this one goes on.
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_ROTATE_H
#define COLLECTOR_OUTPUT_OUTPUT_ROTATE_H

#include "buffer.h"

/* Writes statistics blocks of a sensor's interfaces. It says how long they are, and when its run
 * ends, so they are charged to it. */
void output_statistics(struct output *out, struct sensor *s);
/* Writes the statistics blocks of all sensors in this section, as far as they are known now. */
void output_section_end(struct output *out);
/* Begins the next file where this one would be too large with `more` bytes. */
void output_rotate_full(struct output *out, size_t more, uint64_t now_ns);
/* Begins the next file where it is time for it. */
void output_rotate_due(struct output *out, uint64_t now_ns);

#endif
