/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output file: the file, pipe or device that the output's buffer is written to (buffer.h), and the
 * next one, which the privileged process opens (files.h).
 */
#ifndef COLLECTOR_OUTPUT_OUTPUT_FILE_H
#define COLLECTOR_OUTPUT_OUTPUT_FILE_H

#include "buffer.h"

/* Goes on with the next file, from where a section is to begin: one of an earlier run is cut to
 * what is whole. Returns 0, or -errno after a line; then the file before it may still be there. */
int output_file_next(struct output *out);
/* Writes the buffer. Returns 0 when all of it is written; otherwise, in a file, nothing is. -EPIPE:
 * nobody reads any more, or it is time to stop and nobody has read for a second. */
int output_file_write(struct output *out);

#endif
