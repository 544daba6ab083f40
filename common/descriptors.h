/* SPDX-License-Identifier: GPL-2.0 */
/* Descriptors that are open or closed when a program starts. */
#ifndef COMMON_DESCRIPTORS_H
#define COMMON_DESCRIPTORS_H

/* Call it first. Opens /dev/null for each closed descriptor in the opposite direction, so that
 * reads and writes fail, as the C library does for setuid programs. Otherwise the next file or
 * socket could get standard output's number, and frames would be written to it. */
void descriptors_open_standard(void);

/* After the file at `path` was read: if `path` is /dev/fd/N, closes N, which the starting program
 * opened for this one use. */
void descriptors_close_path(const char *path);

#endif
