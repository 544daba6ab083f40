/* SPDX-License-Identifier: GPL-2.0 */
/* Report: prints the ledgers for people. */
#ifndef COLLECTOR_REPORT_H
#define COLLECTOR_REPORT_H

#include "collector/network/network.h"
#include "collector/network/receive.h"
#include "collector/source/source.h"

/* Prints one line per sensor that was heard, and one for malformed datagrams, or with --source for
 * the log's messages: `s`, otherwise NULL. */
void report_print(const struct network *o, const struct receive *r, const struct source *s);

#endif
