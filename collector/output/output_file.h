/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output file: writes the output's buffer (buffer.h) to the file, pipe or device, and gets the next
 * one from the privileged process (files.h).
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_FILE_H
#define COLLECTOR_OUTPUT_OUTPUT_FILE_H

#include "buffer.h"

/* Switches to the next file, at the place of a new section. Truncates a file of an earlier run to
 * whole combos. Returns 0, or -errno after a line: then the old file may still be in use. */
int output_file_next(struct output *out);
/* Writes the buffer. Returns 0 if all was written; otherwise a file is unchanged. -EPIPE: no
 * reader, or none that has read for a second after a stop. */
int output_file_write(struct output *out);

#endif
