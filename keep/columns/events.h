/* SPDX-License-Identifier: GPL-2.0 */
/* Events: the table with a row for each event of a module (docs/analyse.md). */
#ifndef KEEP_COLUMNS_EVENTS_H
#define KEEP_COLUMNS_EVENTS_H

#include "event_line.h"
#include "table.h"

/* Returns as table_open(). */
int events_open(struct table *t, int fd);
/* Adds an event. Returns 0 or -errno. */
int events_row(struct table *t, const struct event_line *e, const char *file);

#endif
