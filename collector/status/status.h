/* SPDX-License-Identifier: GPL-2.0 */
/* saluki-collector status: prints the state of all sensors, from the running collector's board. */
#ifndef COLLECTOR_STATUS_STATUS_H
#define COLLECTOR_STATUS_STATUS_H

#include "common/options.h"

extern const struct option_def status_defs[];

/* argv[0] is "status". Returns the exit status: 0 printed, 1 failed, 2 bad usage. */
int status_main(int argc, char **argv);

#endif
