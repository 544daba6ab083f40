/* SPDX-License-Identifier: GPL-2.0 */
/* Descriptors that whoever starts a program has opened or closed. */
#ifndef COMMON_DESCRIPTORS_H
#define COMMON_DESCRIPTORS_H

/* Call it first. Gives those that are closed to /dev/null, the wrong way round, so that reading and
 * writing fail, as the C library does for programs with more rights. Else the next file or socket
 * would have the number of standard output, and get the frames. */
void descriptors_open_standard(void);

/* After the file at `path` was read: closes N if `path` is /dev/fd/N, which whoever started the
 * program opened for this one use. */
void descriptors_close_path(const char *path);

#endif
