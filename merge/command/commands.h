/* SPDX-License-Identifier: GPL-2.0 */
/* Commands of saluki-merge that read a trace which it has written: a file each. */
#ifndef MERGE_COMMAND_COMMANDS_H
#define MERGE_COMMAND_COMMANDS_H

#include "common/options.h"

extern const struct option_def receptions_defs[], check_defs[], stats_defs[];

/* Each returns the exit status. */
int receptions_main(int argc, char **argv);
int check_main(int argc, char **argv);
int stats_main(int argc, char **argv);

/* Reads the options of a command that has only --help, and takes files. Returns 0, -1 if all is
 * done, or an exit status after a line. */
int commands_parse(const struct option_def *defs, void (*help)(void), int argc, char **argv);

#endif
