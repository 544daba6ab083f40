/* SPDX-License-Identifier: GPL-2.0 */
/* Refused list: the newest BOARD_REFUSED_MAX keys and addresses that were refused, for the board.
 */
#ifndef COLLECTOR_NETWORK_REFUSED_LIST_H
#define COLLECTOR_NETWORK_REFUSED_LIST_H

#include <sys/socket.h>

#include "board/board.h"

struct refused_list {
	unsigned int count;
	struct board_refused of[BOARD_REFUSED_MAX]; /* in no order */
};

/* Counts a refusal. It is the same as an earlier one if reason, `name` and `key` are the same (""
 * if not known), and without both, the address without its port. A new one replaces the oldest. */
void refused_list_add(struct refused_list *l, enum board_reason reason, const char *name,
		      const char *key, const struct sockaddr *from);

#endif
