/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Habits: the options of tcpdump and dumpcap that a command does not have, each with the option or
 * command to use instead. docs/tcpdump.md has the same as a table. Small builds have empty tables,
 * which saves four kilobytes (Makefile).
 */
#ifndef AGENT_OPTIONS_HABITS_H
#define AGENT_OPTIONS_HABITS_H

#include "common/options.h"

extern const struct option_foreign run_habits[], capture_habits[];

#endif
