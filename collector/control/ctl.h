/* SPDX-License-Identifier: GPL-2.0 */
/* saluki-collector ctl: sends an order to a sensor, through the running collector. */
#ifndef COLLECTOR_CONTROL_CTL_H
#define COLLECTOR_CONTROL_CTL_H

#include "common/options.h"
extern const struct option_def ctl_defs[];

/* argv[0] is "ctl". Returns the exit status: 0 done, 1 failed, 2 bad usage. */
int ctl_main(int argc, char **argv);

#endif
