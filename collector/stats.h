/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics: a process of its own, which writes each state of the board as JSON to --stats-file,
 * so that the receiving process has no work with it. It is forked before the keys are read, cannot
 * write to the board, and gets the file from the privileged process.
 */
#ifndef COLLECTOR_STATS_H
#define COLLECTOR_STATS_H

#include <sys/types.h>

#include "collector/files/files.h"
#include "collector/files/handout.h"
#include "collector/model/settings.h"
#include "board/board.h"

/* The privileged process's side. Zeroed: there is no such process. */
struct stats {
	pid_t pid;
	int sock; /* its requests for files */
	int end;  /* closed: it writes the last state, and ends */
};

/* Starts the process. `out` has the board's descriptor. Returns 0, or -errno after a line. */
int stats_start(struct stats *s, const struct handout *out, struct board *map,
		const struct collector_options *o);
/* In the receiving process: closes what is the privileged one's. */
void stats_forget(struct stats *s);
/* Returns the descriptor to poll for requests; -1: none. */
int stats_polled(const struct stats *s);
/* Answers a request. */
void stats_answer(struct stats *s, struct files *f);
/* Lets it write the last state, and waits for its end. */
void stats_end(struct stats *s, struct files *f);

#endif
