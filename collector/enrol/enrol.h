/* SPDX-License-Identifier: GPL-2.0 */
/* saluki-collector add, enrol and remove: change the sensors file, all or nothing, and have the
 * running collector read it again. */
#ifndef COLLECTOR_ENROL_ENROL_H
#define COLLECTOR_ENROL_ENROL_H

#include "common/options.h"

extern const struct option_def add_defs[], enrol_defs[], remove_defs[];

/* argv[0] is the command. Return the exit status: 0 done, 1 failed, 2 bad usage. */
int add_main(int argc, char **argv);
int enrol_main(int argc, char **argv);
int remove_main(int argc, char **argv);

#endif
