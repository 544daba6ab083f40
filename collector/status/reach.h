/* SPDX-License-Identifier: GPL-2.0 */
/* Reach: the running collector's board, and the sensors that a command names. */
#ifndef COLLECTOR_STATUS_REACH_H
#define COLLECTOR_STATUS_REACH_H

#include "print.h"

/* The row of --board in a table of options. */
#define REACH_OPTION(id)                                                                           \
	{                                                                                          \
		id, "board", "PATH",                                                               \
			"the collector's board\n"                                                  \
			"(default " BOARD_PATH ")"                                                 \
	}

/* Takes the board's two newest states. Returns 0, or -errno after a line. */
int reach_states(struct board_states *s, const char *path);
/* Returns 0 if the collector knows all names, or -ENOENT after a line. */
int reach_names(const struct board_states *s, const struct status_names *n);

#endif
