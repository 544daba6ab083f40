/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Habits: the options of tcpdump and dumpcap that saluki-collector does not have, each with the
 * option or command to use instead. docs/tcpdump.md has the same as a table.
 */
#ifndef COLLECTOR_HABITS_H
#define COLLECTOR_HABITS_H

#include "common/options.h"

extern const struct option_foreign collector_habits[];

#endif
