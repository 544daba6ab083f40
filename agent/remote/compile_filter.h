/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compile filter: filters that a collector orders, compiled by a process that has nothing else. In:
 * an expression and a link type. Out: classic BPF, or why not. libpcap is not made for expressions
 * of strangers, so it sees them where there are no keys, frames, files and network: a process that
 * is forked while there is none of it yet, and forks another one for each expression, which may
 * crash or go round in circles.
 */
#ifndef AGENT_REMOTE_COMPILE_FILTER_H
#define AGENT_REMOTE_COMPILE_FILTER_H

#include <stdint.h>

#include "agent/filter/filter.h"
#include "wire/order.h"

struct compiled {
	int32_t error; /* 0, or -errno with the reason in `why` */
	char why[FILTER_WHY_LEN];
	struct filter filter;
};

/* What to answer where there is none. */
extern const char compile_filter_none[];

/* Starts it. Called without privilege, before there are keys, frames and threads. Returns the
 * socket to ask on, non-blocking, or -errno after a line; -EOPNOTSUPP without one, where there is
 * no libpcap and so nothing to start. It ends with its socket. */
int compile_filter_start(void);
/* Asks; the answer can be read when the socket is readable, one at a time. Returns 0 or -errno. */
int compile_filter_ask(int sock, const char *expression, int linktype);
/* Reads it. Returns 0, -EAGAIN where there is none yet, or -errno: there will be none any more. */
int compile_filter_answer(int sock, struct compiled *c);

#endif
