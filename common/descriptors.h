/* SPDX-License-Identifier: GPL-2.0 */
/* Standard input, output and error that whoever starts a program may have closed. */
#ifndef COMMON_DESCRIPTORS_H
#define COMMON_DESCRIPTORS_H

/* Call it first. Gives those that are closed to /dev/null, the wrong way round, so that reading and
 * writing fail, as the C library does for programs with more rights. Else the next file or socket
 * would have the number of standard output, and get the frames. */
void descriptors_open_standard(void);

#endif
