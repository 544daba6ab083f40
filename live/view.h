/* SPDX-License-Identifier: GPL-2.0 */
/*
 * View: copies records from the ring to the stream. In: a collector, and after its end the next
 * one. Out: one section with the wanted frames, and statistics of missed frames.
 */
#ifndef LIVE_VIEW_H
#define LIVE_VIEW_H

#include "options.h"

/* Runs until COUNT frames, a signal, or the reader's end. Returns the exit status, after a line if
 * it failed. `fd`: where to write, `name` in messages. `helper`: as connect_start returned it. */
int view(const struct live_options *o, int helper, int fd, const char *name);

#endif
