/* SPDX-License-Identifier: GPL-2.0 */
/* A filter as classic BPF: filter/ makes it, and the two processes exchange it. */
#ifndef AGENT_MODEL_CLASSIC_FILTER_H
#define AGENT_MODEL_CLASSIC_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#define FILTER_LEN_MAX 8192 /* instructions; the kernel accepts 4096 (BPF_MAXINSNS) for sockets */
#define FILTER_WHY_LEN 512  /* bytes of an error's text */

struct filter {
	uint32_t len; /* instructions; 0: no filter, every frame is accepted */
	struct sock_filter code[FILTER_LEN_MAX];
	char text[1024]; /* its source; truncated */
	bool is_code;	 /* given as code, and `text` names its origin */
};

/* A filter's source as requested: code, an expression, or neither. */
struct filter_given {
	char *expression;
	struct filter *code;
	struct filter_ready *ready; /* the expression compiled for some link types */
};

#endif
