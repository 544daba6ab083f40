/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of saluki-collector. */
#ifndef COLLECTOR_OPTIONS_H
#define COLLECTOR_OPTIONS_H

#include "collector/model/settings.h"
#include "common/options.h"

/* Returns the command of this name, which comes before other options; NULL: there is none. */
const struct command_def *options_command(const char *name);

/* Returns 0, or an exit status after all messages: 2 for bad usage, -1 after --help. */
int options_parse(struct collector_options *o, int argc, char **argv);

#endif
