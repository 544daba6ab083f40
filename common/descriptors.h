/* SPDX-License-Identifier: GPL-2.0 */
/* Standard input, output and error, which may be closed when a program starts. */
#ifndef COMMON_DESCRIPTORS_H
#define COMMON_DESCRIPTORS_H

/* Call it first. Opens /dev/null for each closed descriptor in the opposite direction, so that
 * reads and writes fail, as the C library does for setuid programs. Otherwise the next file or
 * socket could get standard output's number, and frames would be written to it. */
void descriptors_open_standard(void);

#endif
