/* SPDX-License-Identifier: GPL-2.0 */
/* The options of `saluki run`. */
#ifndef AGENT_OPTIONS_OPTIONS_H
#define AGENT_OPTIONS_OPTIONS_H

#include "run_options.h"

/* Returns 0, or an exit status after all messages: 2 for bad usage, -1 after --help. */
int options_parse(struct run_options *o, int argc, char **argv);

#endif
