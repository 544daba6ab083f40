/* SPDX-License-Identifier: GPL-2.0 */
/* The ledger for people (a line a sensor) and for programs (a JSON file, once a second). */
#ifndef COLLECTOR_STATS_H
#define COLLECTOR_STATS_H

#include "collector/control/groups.h"
#include "collector/network/network.h"
#include "collector/network/receive.h"

/* Prints a line a sensor that was heard, and one for what was wrong with datagrams. */
void stats_print(const struct network *o, const struct receive *r);
/* Replaces the statistics file by way of the privileged process behind `files`. A failure is
 * said once. */
void stats_write(const struct network *o, const struct receive *r, const struct groups *g,
		 int files);

#endif
