/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of saluki-kafka, with their options. */
#ifndef KAFKA_OPTIONS_COMMANDS_H
#define KAFKA_OPTIONS_COMMANDS_H

#include "common/options.h"

/* Return the exit status. */
int put_main(int argc, char **argv);
int get_main(int argc, char **argv);
int topics_main(int argc, char **argv);

extern const struct option_def put_defs[], get_defs[], topics_defs[];

#endif
