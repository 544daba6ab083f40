/* SPDX-License-Identifier: GPL-2.0 */
/* Frames: the table with a row for each frame that a sensor has captured (docs/analyse.md). */
#ifndef KEEP_COLUMNS_FRAMES_H
#define KEEP_COLUMNS_FRAMES_H

#include "row.h"
#include "table.h"

/* Returns as table_open(). */
int frames_open(struct table *t, int fd);
/* `file`: the capture file's name. Returns 0 or -errno. */
int frames_row(struct table *t, const struct row *r, const char *file);

#endif
