/* SPDX-License-Identifier: GPL-2.0 */
/* Find program: where the shell would find a program. */
#ifndef COMMON_FIND_PROGRAM_H
#define COMMON_FIND_PROGRAM_H

#include <stdbool.h>

/* Returns whether there is such a program in PATH. `path`: PATH_MAX bytes for where it is, or
 * NULL. */
bool find_program(const char *program, char *path);

#endif
