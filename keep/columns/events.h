/* SPDX-License-Identifier: GPL-2.0 */
/* Events: the table with a row for each event of a module (docs/analyse.md). */
#ifndef KEEP_COLUMNS_EVENTS_H
#define KEEP_COLUMNS_EVENTS_H

#include "table.h"

/* Returns as table_open(). */
int events_open(struct table *t, int fd);
/* Adds an event, a line of JSON as in the capture file (saluki-files(5), Event files). Returns 0;
 * -EBADMSG if it is no such line, which has no row; or another -errno. */
int events_row(struct table *t, const char *line, size_t len, const char *file);

#endif
