/* SPDX-License-Identifier: GPL-2.0 */
/* Filter: the control flow of its instructions. */
#ifndef AGENT_FILTER_FLOW_H
#define AGENT_FILTER_FLOW_H

#include "filter.h"

struct filter_flow {
	uint16_t ways[FILTER_LEN_MAX];		   /* paths to the instruction; 0: unreachable */
	bool a[FILTER_LEN_MAX], x[FILTER_LEN_MAX]; /* A and X are live before the instruction */
};

/* Analyses a checked filter. */
void filter_flow(struct filter_flow *w, const struct filter *f);

#endif
