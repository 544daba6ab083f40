/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pipe: reads the collector's live stream, `saluki-collector -w -` or `saluki-live -w -`: blocks of
 * one or more sections, as they come. A sensor that is more than PIPE_HOLD_NS behind the others
 * does not hold the merge.
 */
#ifndef MERGE_INPUT_PIPE_H
#define MERGE_INPUT_PIPE_H

#include "take.h"

#define PIPE_HOLD_NS 3000000000LL
#define PIPE_REHEARSED_NS 2000000000LL /* until then, nothing is written */

/* Reads until the pipe's end, or until a signal (stop.h). Then sweeps the rest. Calls `progress`,
 * if it is not NULL, from time to time. `missed` counts the frames that the stream says were
 * missed. Returns 0, or -errno after a line. */
int pipe_read(struct take *t, int fd, uint64_t *missed,
	      void (*progress)(void *context, double share), void *context);

#endif
