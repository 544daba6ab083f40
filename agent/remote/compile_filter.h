/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compile filter: compiles a collector's filters in a separate process. In: an expression and a
 * link type. Out: classic BPF, or an error. libpcap is not made for untrusted expressions, so it
 * runs without keys, frames, files and network, in a process that is forked before there are any.
 * That process forks another one per expression, which may crash or loop.
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

/* The answer without libpcap. */
extern const char compile_filter_none[];

/* Starts it. Call it without privilege, before there are keys, frames and threads. Returns the
 * non-blocking socket for requests, or -errno after a line; -EOPNOTSUPP, without a line: this build
 * has no libpcap. The process ends when its socket is closed. */
int compile_filter_start(void);
/* Sends a request, one at a time. The answer is there when the socket is readable. Returns 0 or
 * -errno. */
int compile_filter_ask(int sock, const char *expression, int linktype);
/* Reads the answer. Returns 0, -EAGAIN if there is none yet, or another -errno: no more answers
 * will come. */
int compile_filter_answer(int sock, struct compiled *c);

#endif
