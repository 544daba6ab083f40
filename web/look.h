/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Look: the collector's newest state, taken once for all requests. In: the board, from the process
 * that connects. Out: one state a second, or the reason why there is none.
 */
#ifndef WEB_LOOK_H
#define WEB_LOOK_H

#include "board/why.h"
#include "resources.h"
#include "sums.h"

struct look {
	const char *path;    /* of the board */
	int helper;	     /* socket to the process that connects */
	bool asked;	     /* its answer has not come */
	uint64_t asked_ns;   /* last time */
	int refused;	     /* the helper's last answer, -errno; 0: a board */
	uint64_t changed_ns; /* when the last state came */
	uint64_t memory;     /* inode of the mapped board */
	uint32_t published;  /* number of the newest state taken */
	struct board_view view;
	struct board_states states;
	struct sums *sums;
	struct web_history *history;
	bool fresh;	  /* `states` is a present state */
	uint32_t changes; /* of the state, also to none */
	char why[BOARD_WHY_MAX];
};

#define LOOK_TICK_NS 250000000ULL

/* Returns 0, or -ENOMEM after a line. */
int look_init(struct look *l, const char *path, int helper);
void look_free(struct look *l);
/* Takes a new state, and asks for another board if this one does not change. Call it each
 * LOOK_TICK_NS. Returns 0, or -errno if the helper has ended. */
int look_tick(struct look *l, uint64_t now_ns);
/* Takes the helper's answer. Returns 0, or -errno if the helper has ended. */
int look_answer(struct look *l, uint64_t now_ns);

#endif
