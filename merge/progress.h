/* SPDX-License-Identifier: GPL-2.0 */
/* Progress: a line on a terminal about a run that takes long. */
#ifndef MERGE_PROGRESS_H
#define MERGE_PROGRESS_H

#include "common/terminal_line.h"
#include "merge/sweep/merge.h"

struct progress {
	struct terminal_line line;
	const struct merge *merge;
	uint64_t begun_ns, next_ns; /* CLOCK_MONOTONIC */
};

void progress_begin(struct progress *p, const struct merge *m);
/* `share` of the input is done, from 0 to 1; below 0: unknown. */
void progress_show(void *progress, double share);
void progress_end(struct progress *p);

#endif
