/* SPDX-License-Identifier: GPL-2.0 */
/* Find program: where the shell would find a program. */
#ifndef COMMON_FIND_PROGRAM_H
#define COMMON_FIND_PROGRAM_H

#include <stdbool.h>

/* Returns whether PATH has the program. `path`: NULL, or PATH_MAX bytes for the program's path. */
bool find_program(const char *program, char *path);

#endif
