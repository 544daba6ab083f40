/* SPDX-License-Identifier: GPL-2.0 */
/* saluki-collector status, top and check: print the state of all sensors, from the running
 * collector's board. */
#ifndef COLLECTOR_STATUS_STATUS_H
#define COLLECTOR_STATUS_STATUS_H

#include "common/options.h"

extern const struct option_def status_defs[], top_defs[], check_defs[];

/* argv[0] is the command. Return the exit status: 0 printed, 1 failed, 2 bad usage; for check 0 to
 * 3, as monitoring plugins. */
int status_main(int argc, char **argv);
int top_main(int argc, char **argv);
int check_main(int argc, char **argv);

#endif
