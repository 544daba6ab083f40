/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics: the ledger for people (one line per sensor) and for programs (a JSON file, once a
 * second). */
#ifndef COLLECTOR_STATS_H
#define COLLECTOR_STATS_H

#include "collector/control/groups.h"
#include "collector/network/network.h"
#include "collector/network/receive.h"

/* Prints one line per sensor that was heard, and one for malformed datagrams. */
void stats_print(const struct network *o, const struct receive *r);
/* Replaces the statistics file through the privileged process at `files`. Logs a failure once. */
void stats_write(const struct network *o, const struct receive *r, const struct groups *g,
		 int files);

#endif
