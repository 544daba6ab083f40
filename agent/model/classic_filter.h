/* SPDX-License-Identifier: GPL-2.0 */
/* A filter as classic BPF: filter/ makes it, and both processes pass it on. */
#ifndef AGENT_MODEL_CLASSIC_FILTER_H
#define AGENT_MODEL_CLASSIC_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#define FILTER_LEN_MAX                                                                             \
	8192 /* instructions; the kernel takes 4096 of them (BPF_MAXINSNS) for sockets */
#define FILTER_WHY_LEN 512 /* bytes, for the texts that say why not */

struct filter {
	uint32_t len; /* instructions; 0: there is no filter, everything is accepted */
	struct sock_filter code[FILTER_LEN_MAX];
	char text[1024]; /* what it was made from; cut where it is longer */
	bool is_code;	 /* it was given as code, and `text` says where that came from */
};

/* A filter as it was asked for: code, an expression, or neither. */
struct filter_given {
	char *expression;
	struct filter *code;
	struct filter_ready *ready; /* what the expression is for some link types */
};

#endif
