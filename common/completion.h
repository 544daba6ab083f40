/* SPDX-License-Identifier: GPL-2.0 */
/*
 * `--completion`: completion for bash, written from the tables that getopt_long(3) and `--help`
 * read (options.h), so it knows what they know. It needs nothing but bash itself.
 *
 * The table's name for an argument says which words may follow the option. '|' divides
 * alternatives. IF is an interface, FILE and DIR are files and folders. Nothing is offered for
 * other capitals (HOST:PORT, BYTES). All else stands for itself (headers|all).
 */
#ifndef COMMON_COMPLETION_H
#define COMMON_COMPLETION_H

#include <stdbool.h>

#include "options.h"

/* `defs` are the program's own options. `commands` end with an entry without a name, NULL: the
 * program has none. `alone`: it needs none of them. One of `below`, which end as they do,
 * stands behind the command `above`; NULL: there is no such command. Returns the exit status. */
int completion_print(const char *program, const struct option_def *defs,
		     const struct command_def *commands, bool alone, const char *above,
		     const struct command_def *below);

#endif
